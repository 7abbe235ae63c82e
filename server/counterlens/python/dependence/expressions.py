"""The reads and bindings of an expression.

Rules:

- Parts are read in order of evaluation; a `:=` that may be skipped (after `and`, `or`, in a conditional
  expression, a chained comparison, a comprehension) is a weak definition: it kills nothing.
- `x.a` and `x['k']` read that place of `x`; a method call `x.f()` reads the whole object.
- A comprehension reads what it captures immediately. Its targets are its own variables.
- A lambda or generator expression reads what it captures *later*: its sources are the definitions that reach
  the statement or may be made after it. A callable in `Rules.eager` consumes them immediately
  (`sorted(key=lambda ...)`, `sum(... for ...)`): they read like the rest of the statement.
- What looks variables up by name (`lookups.py`) reads every variable that its block binds.
- A lambda that changes a captured object is a change at any time after its statement.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from counterlens.dependence.effects import Effects, bind, see
from counterlens.python.dependence.lookups import Lookup, Lookups
from counterlens.python.dependence.rules import PythonRules, changed_by_call, selector
from counterlens.python.dependence.scopes import (
    BlockNames,
    Comprehension,
    Names,
    Variables,
    evaluated_at_definition,
)

LAZY = frozenset({"map", "filter", "enumerate", "zip", "reversed", "takewhile", "dropwhile", "chain", "iter"})
"""Callables that return the elements of their arguments one by one."""


@dataclass(slots=True)
class ExpressionReading:
    """The reading of one expression.

    Attributes:
        expression: The whole expression.
        variables: The variables in scope.
        effects: Its effects so far.
        stack: The parts still to read, first part last. A stack instead of recursion, because expressions may
            be nested deeper than Python's recursion limit.
        eager: Parts that are called or consumed immediately.
        skippable: The assignment expressions that may be skipped; None before the first one.
    """

    expression: ast.expr
    variables: Variables
    effects: Effects
    stack: list[Any] = field(default_factory=list)
    eager: set[ast.expr] = field(default_factory=set)
    skippable: set[ast.NamedExpr] | None = None


class Expressions:
    """Finds the effects of expressions."""

    def __init__(self, scopes: BlockNames, rules: PythonRules, lookups: Lookups) -> None:
        self._scopes = scopes
        self._rules = rules
        self._lookups = lookups

    def read(self, variables: Variables, *expressions: ast.expr | None) -> Effects:
        """The effects of evaluating expressions in sequence."""
        effects = Effects()
        for expression in expressions:
            if expression is not None:
                self.add(expression, variables, effects)
        return effects

    def add(self, expression: ast.expr, variables: Variables, effects: Effects) -> None:
        """Add the effects of evaluating an expression."""
        kind = expression.__class__
        if kind is ast.Constant:
            return
        lookups = self._lookups.at
        if kind is ast.Name and expression not in lookups:
            for variable in variables.read(expression.id):  # type: ignore[attr-defined]
                see(effects, variable)
            return
        reading = ExpressionReading(expression, variables, effects, [expression])
        stack, parts = reading.stack, _PARTS
        while stack:
            node = stack.pop()
            kind = node.__class__
            if node in lookups:
                self._look_up(node, variables, effects)
            if kind is ast.Name:
                for variable in variables.read(node.id):
                    see(effects, variable)
            elif kind is not ast.Constant:
                part = parts.get(kind)
                if part is None:
                    stack.extend(reversed(list(expressions_in(node))))
                else:
                    part(self, node, reading)

    def capture(self, names: Names, variables: Variables, effects: Effects, *, at_once: bool = False) -> None:
        """Add the captures of a nested block, read now or at any later time."""
        reads, writes, changed = variables.captured(names)
        if at_once:
            for variable in reads:
                see(effects, variable)
            effects.changed |= changed
        else:
            effects.later |= reads
            effects.floating_changed |= changed
        effects.floating |= writes

    def _look_up(self, node: Any, variables: Variables, effects: Effects) -> None:
        """Add what an expression looks up by name."""
        kind = self._lookups.at[node]
        effects.by_name |= kind is not Lookup.FIRST
        names = variables.read(self._lookups.first[node]) if kind is Lookup.FIRST else ()
        for variable in names or variables.looked_up(everything=kind is Lookup.LOCALS):
            see(effects, variable)
        if node in self._lookups.binding and variables.dynamic:
            effects.star = True

    def _part_of(self, node: ast.Attribute | ast.Subscript, reading: ExpressionReading) -> None:
        if isinstance(node, ast.Subscript):
            reading.stack.append(node.slice)
        value = node.value
        if isinstance(value, ast.Name):
            for variable in reading.variables.read(value.id):
                see(reading.effects, variable, selector(node))
        else:
            reading.stack.append(value)

    def _call(self, node: ast.Call, reading: ExpressionReading) -> None:
        rules, variables, effects = self._rules, reading.variables, reading.effects
        callee = node.func
        stack = reading.stack
        stack.extend([word.value for word in reversed(node.keywords)])
        stack.extend(reversed(node.args))
        if isinstance(callee, ast.Attribute):
            name = callee.attr
            if callee in self._lookups.at:
                self._look_up(callee, variables, effects)
            stack.append(callee.value)
            if name in rules.resetting_methods and isinstance(callee.value, ast.Name):
                effects.reset.update(variables.read(callee.value.id))
        else:
            name = callee.id if isinstance(callee, ast.Name) else ""
            stack.append(callee)
        changed = changed_by_call(node, rules.mutating_methods, rules.mutating_functions)
        if changed is not None:
            effects.changed.update((variable, changed[1]) for variable in variables.read(changed[0]))
        if name in rules.eager or (name in LAZY and node in reading.eager):
            reading.eager.update(node.args)
            reading.eager.update(word.value for word in node.keywords)

    def _named(self, node: ast.NamedExpr, reading: ExpressionReading) -> None:
        if reading.skippable is None:
            reading.skippable = set(_skippable(reading.expression))
        reading.stack += [_Bind(node.target.id, node in reading.skippable), node.value]

    def _bind(self, node: _Bind, reading: ExpressionReading) -> None:
        bind(reading.effects, reading.variables.write(node.name), perhaps=node.perhaps)

    def _lambda(self, node: ast.Lambda, reading: ExpressionReading) -> None:
        names = self._scopes.names(node)
        self.capture(names, reading.variables, reading.effects, at_once=node in reading.eager)
        reading.stack.extend(evaluated_at_definition(node))

    def _comprehension(self, node: Comprehension, reading: ExpressionReading) -> None:
        reading.stack += [_Comprehended(node), node.generators[0].iter]

    def _comprehended(self, done: _Comprehended, reading: ExpressionReading) -> None:
        node = done.node
        names = self._scopes.names(node)
        deferred = (isinstance(node, ast.GeneratorExp) and node not in reading.eager) or any(
            isinstance(inner, ast.Lambda) for inner in ast.walk(node)
        )
        self.capture(names, reading.variables, reading.effects, at_once=not deferred)
        for name in names.leaked:
            variable = reading.variables.write(name)
            if deferred:
                reading.effects.floating.add(variable)
            bind(reading.effects, variable, perhaps=True)
            if name in names.reads:
                reading.effects.own.add(variable)

    def _dict(self, node: ast.Dict, reading: ExpressionReading) -> None:
        for key, value in zip(reversed(node.keys), reversed(node.values), strict=True):
            reading.stack.append(value)
            if key is not None:
                reading.stack.append(key)


@dataclass(frozen=True, slots=True)
class _Bind:
    """A stack item: binds the name of an assignment expression after its value was read."""

    name: str
    perhaps: bool


@dataclass(frozen=True, slots=True)
class _Comprehended:
    """A stack item: reads a comprehension after its first iterable was read."""

    node: Comprehension


_PARTS: dict[type, Callable[[Expressions, Any, ExpressionReading], None]] = {
    ast.Attribute: Expressions._part_of,
    ast.Subscript: Expressions._part_of,
    ast.Call: Expressions._call,
    ast.NamedExpr: Expressions._named,
    ast.Lambda: Expressions._lambda,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.DictComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.Dict: Expressions._dict,
    ast.BinOp: lambda _, node, reading: reading.stack.extend((node.right, node.left)),
    ast.IfExp: lambda _, node, reading: reading.stack.extend((node.orelse, node.body, node.test)),
    ast.Tuple: lambda _, node, reading: reading.stack.extend(reversed(node.elts)),
    ast.UnaryOp: lambda _, node, reading: reading.stack.append(node.operand),
    _Bind: Expressions._bind,
    _Comprehended: Expressions._comprehended,
}


def expressions_in(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions directly in a node, in order of evaluation."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.expr):
            yield value
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, ast.expr):
                    yield item


def _skippable(expression: ast.expr) -> Iterator[ast.NamedExpr]:
    """The assignment expressions that may be skipped when the expression is evaluated."""
    stack: list[tuple[ast.AST, bool]] = [(expression, False)]
    while stack:
        node, skipped = stack.pop()
        if isinstance(node, ast.NamedExpr) and skipped:
            yield node
        always: list[ast.AST]
        perhaps: list[ast.AST] = []
        if isinstance(node, ast.BoolOp):
            always, perhaps = [node.values[0]], list(node.values[1:])
        elif isinstance(node, ast.IfExp):
            always, perhaps = [node.test], [node.body, node.orelse]
        elif isinstance(node, ast.Compare):
            always, perhaps = [node.left, node.comparators[0]], list(node.comparators[1:])
        else:
            always = list(ast.iter_child_nodes(node))
        stack += [(child, skipped) for child in always] + [(child, True) for child in perhaps]
