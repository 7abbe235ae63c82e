"""The reads and bindings of a statement, or of the header of a compound statement.

Rules (for its expressions: `expressions.py`):

- A statement reads before it binds; if a part of it binds earlier (an earlier target, an earlier context
  manager, a capture before the guard), the parts after it read the new value.
- `x += v` reads and binds `x`; so does any other augmented assignment. `del x` reads and kills `x`. `x: int`
  alone has no effect.
- A nested function reads what it captures *later*: its sources are the definitions that reach its `def` or
  may be made after it. If it rebinds a captured name (`nonlocal`, `global`) or changes a captured object,
  that is a definition from its `def` on that nothing kills, because it may be called at any time.
- Annotations are read at module and class level and in signatures, unless postponed (PEP 563).
- An import binds names; `from m import *` may define any name that is used and not a builtin.
- Statements of later Python versions, unknown here, read all their parts later.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from counterlens.dependence.effects import Effects, bind
from counterlens.python.dependence.expressions import LAZY, Expressions, expressions_in
from counterlens.python.dependence.lookups import Lookups
from counterlens.python.dependence.rules import PythonRules, place
from counterlens.python.dependence.scopes import (
    BlockNames,
    ClassVariables,
    Variables,
    evaluated_at_definition,
    imported_names,
)

_VIEWS = frozenset({"items", "keys", "values"})


class Reader(Expressions):
    """Finds the effects of statements and their parts."""

    def __init__(self, scopes: BlockNames, rules: PythonRules, lookups: Lookups, *, postponed: bool) -> None:
        super().__init__(scopes, rules, lookups)
        self._postponed = postponed

    def simple(self, statement: ast.stmt, variables: Variables) -> Effects:
        """The effects of a simple statement."""
        effects = Effects()
        _SIMPLE.get(statement.__class__, Reader._unknown)(self, statement, variables, effects)
        return effects

    def header(self, node: ast.ClassDef, variables: Variables) -> Effects:
        """The effects of the evaluation before a class body runs: decorators, bases, keywords."""
        return self.read(variables, *evaluated_at_definition(node))

    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef, variables: Variables) -> Effects:
        """The effects of a `def`: it evaluates decorators and defaults, captures names and binds its name."""
        evaluated = evaluated_at_definition(node, annotations=not self._postponed)
        effects = self.read(variables, *evaluated)
        self.capture(self._scopes.names(node), variables, effects)
        bind(effects, variables.write(node.name))
        return effects

    def store(self, variables: Variables, target: ast.expr) -> Effects:
        """The effects of binding a target to an evaluated value."""
        effects = Effects()
        self._store(target, variables, effects)
        return effects

    def items(self, variables: Variables, items: list[ast.withitem]) -> Effects:
        """The effects of entering context managers."""
        effects = Effects()
        for item in items:
            self.add(item.context_expr, variables, effects)
            if item.optional_vars is not None:
                self._store(item.optional_vars, variables, effects)
        return effects

    def loop(self, variables: Variables, iterable: ast.expr) -> Effects:
        """The effects of taking the next element: reads of the iterated objects, not of their names."""
        effects = Effects()
        stack = [iterable]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Call):
                if isinstance(node.func, ast.Name) and node.func.id in LAZY:
                    stack += node.args
                elif isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
                    stack.append(node.func.value)
            elif isinstance(node, ast.GeneratorExp):
                stack.append(node.generators[0].iter)
            elif (iterated := place(node)) is not None:
                effects.parts.update((variable, iterated[1]) for variable in variables.read(iterated[0]))
        return effects

    def pattern(self, pattern: ast.pattern, variables: Variables) -> tuple[Effects, set[str]]:
        """The effects of matching a pattern, and the variables that it captures if it matches."""
        effects = Effects()
        captured: set[str | None] = set()
        for node in ast.walk(pattern):
            if isinstance(node, ast.MatchValue):
                self.add(node.value, variables, effects)
            elif isinstance(node, ast.MatchClass):
                self.add(node.cls, variables, effects)
            elif isinstance(node, ast.MatchMapping):
                captured.add(node.rest)
                for key in node.keys:
                    self.add(key, variables, effects)
            elif isinstance(node, ast.MatchAs | ast.MatchStar):
                captured.add(node.name)
        return effects, {variables.write(name) for name in captured if name}

    # targets

    def _store(self, target: ast.expr, variables: Variables, effects: Effects) -> None:
        stack = [target]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Name):
                bind(effects, variables.write(node.id))
            elif isinstance(node, ast.Tuple | ast.List):
                stack.extend(reversed(node.elts))
            elif isinstance(node, ast.Starred):
                stack.append(node.value)
            else:
                self.add(node, variables, effects)
                self._change(node, variables, effects)

    def _change(
        self, target: ast.expr, variables: Variables, effects: Effects, *, whole: bool = False
    ) -> None:
        changed = place(target)
        if changed is not None:
            which = "" if whole else changed[1]
            effects.changed.update((variable, which) for variable in variables.read(changed[0]))

    # simple statements

    def _assign(self, node: ast.Assign, variables: Variables, effects: Effects) -> None:
        self.add(node.value, variables, effects)
        for target in node.targets:
            self._store(target, variables, effects)

    def _augment(self, node: ast.AugAssign, variables: Variables, effects: Effects) -> None:
        self.add(node.target, variables, effects)
        self.add(node.value, variables, effects)
        if isinstance(node.target, ast.Name):
            bind(effects, variables.write(node.target.id))
        else:
            self._change(node.target, variables, effects)

    def _annotate(self, node: ast.AnnAssign, variables: Variables, effects: Effects) -> None:
        if node.value is not None:
            self.add(node.value, variables, effects)
        if not self._postponed and (variables.module or isinstance(variables, ClassVariables)):
            self.add(node.annotation, variables, effects)
        if node.value is not None:
            self._store(node.target, variables, effects)
        elif not isinstance(node.target, ast.Name):
            self.add(node.target, variables, effects)

    def _delete(self, node: ast.Delete, variables: Variables, effects: Effects) -> None:
        stack = list(reversed(node.targets))
        while stack:
            target = stack.pop()
            if isinstance(target, ast.Tuple | ast.List):
                stack.extend(reversed(target.elts))
                continue
            self.add(target, variables, effects)
            if isinstance(target, ast.Name):
                effects.killed.add(variables.write(target.id))
            else:  # the elements after a deleted one get other indices
                self._change(target, variables, effects, whole=isinstance(target, ast.Subscript))

    def _import(self, node: ast.Import | ast.ImportFrom, variables: Variables, effects: Effects) -> None:
        for name in imported_names(node):
            bind(effects, variables.write(name))
        effects.star |= any(alias.name == "*" for alias in node.names)

    def _evaluate(self, node: ast.stmt, variables: Variables, effects: Effects) -> None:
        for expression in expressions_in(node):
            self.add(expression, variables, effects)

    def _unknown(self, node: ast.stmt, variables: Variables, effects: Effects) -> None:
        later_effects = Effects()
        for expression in expressions_in(node):
            if isinstance(expression, ast.Name) and isinstance(expression.ctx, ast.Store):
                bind(effects, variables.write(expression.id))
            else:
                self.add(expression, variables, later_effects)
        effects.later |= later_effects.reads


_SIMPLE: dict[type[ast.stmt], Callable[[Reader, Any, Variables, Effects], None]] = {
    ast.Assign: Reader._assign,
    ast.AugAssign: Reader._augment,
    ast.AnnAssign: Reader._annotate,
    ast.Delete: Reader._delete,
    ast.Import: Reader._import,
    ast.ImportFrom: Reader._import,
    ast.Expr: Reader._evaluate,
    ast.Return: Reader._evaluate,
    ast.Raise: Reader._evaluate,
    ast.Assert: Reader._evaluate,
    ast.Pass: Reader._evaluate,
    ast.Break: Reader._evaluate,
    ast.Continue: Reader._evaluate,
    ast.Global: Reader._evaluate,
    ast.Nonlocal: Reader._evaluate,
}
