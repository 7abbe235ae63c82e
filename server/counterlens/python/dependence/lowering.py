"""Lowers the statements of a Python function to a control-flow graph.

Rules:

- A simple statement is one node; compound ones are described in `program.py`. `if` and `elif` are branches; a
  class body runs inline, and its name is bound at its end.
- `assert` branches to the next statement and to the handler of an `AssertionError`.
- A call in `Rules.terminators` as a separate statement is a `raise SystemExit`.

Approximations: conditions other than constants may be true or false; calls return.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

from counterlens.dependence.cfg import ENTRY, EXIT, Arc, ControlFlowGraph, Loose
from counterlens.dependence.effects import MARK, Effects
from counterlens.dependence.layout import FlowLayout, Jump
from counterlens.python.dependence.reading import Reader
from counterlens.python.dependence.rules import PythonRules
from counterlens.python.dependence.scopes import FUNCTIONS, BlockNames, ClassVariables, Variables, parameters
from counterlens.python.dependence.statements import Statements

_NO_EXCEPTIONS = frozenset({"SystemExit", "KeyboardInterrupt", "GeneratorExit", "BaseException"})
_BUILTINS = frozenset(dir(builtins))
LowerStatement = Callable[["Lowering", Any, Loose], Loose]
"""Lowers a statement at the end of loose arcs, and returns the loose arcs after it."""


class Lowering(FlowLayout[ast.stmt]):
    """The lowering of one Python function to a control-flow graph.

    Attributes:
        rules: The chosen rules.
        read: Finds the effects of statements.
        variables: The variables in scope at the current statement.
    """

    rules: PythonRules

    def __init__(
        self,
        statements: Statements,
        variables: Variables,
        scopes: BlockNames,
        read: Reader,
        rules: PythonRules,
    ) -> None:
        super().__init__(statements.header, rules)
        self.read = read
        self.variables = variables
        self._scopes = scopes
        self._number = statements.number

    def function(self, body: list[ast.stmt], arguments: ast.arguments | None) -> ControlFlowGraph:
        """Lower a whole function or module."""
        if arguments is not None:
            self.graph.effects[ENTRY] = Effects(strong=set(parameters(arguments)))
        loose = self.body(body, [(ENTRY, Arc.NEXT)])
        self.graph.connect(loose, EXIT)
        # let a star import, or `exec` in a module, possibly define every name that is used and not a builtin
        stars = [effects for effects in self.graph.effects if effects.star]
        if stars:
            used: set[str] = set()
            for effects in self.graph.effects:
                used |= effects.reads | effects.later
            for effects in stars:
                effects.weak |= {name for name in used if MARK not in name} - _BUILTINS
        return self.graph

    def lower_statement(self, statement: ast.stmt, loose: Loose) -> Loose:
        lower = _COMPOUND.get(statement.__class__)
        return _simple(self, statement, loose) if lower is None else lower(self, statement, loose)

    def caught(self, exception: str | None, catches: frozenset[str]) -> bool:
        """Like `FlowLayout.caught`: `Exception` catches all named classes but four."""
        if super().caught(exception, catches):
            return True
        return "Exception" in catches and exception is not None and exception not in _NO_EXCEPTIONS

    def node(self, statement: ast.AST, effects: Effects | None, loose: Loose) -> int:
        """Add a node at the end of loose arcs."""
        raises = self.rules.implicit_exceptions and may_raise(statement)
        return self.add(self._number[statement], effects, loose, raises=raises)


def may_raise(statement: ast.AST) -> bool:
    """Whether a statement itself may raise; reading a local variable and binding a name do not."""
    if isinstance(statement, ast.Pass | ast.Break | ast.Continue | ast.Global | ast.Nonlocal | ast.Try):
        return False
    parts: list[ast.AST] = [statement]
    if isinstance(statement, ast.If | ast.While):
        parts = [statement.test]
    elif isinstance(statement, ast.For | ast.AsyncFor | ast.With | ast.AsyncWith | ast.ExceptHandler):
        return True
    while parts:
        part = parts.pop()
        if isinstance(part, ast.Lambda | ast.Name | ast.Constant):
            continue
        if not isinstance(part, ast.stmt | ast.Tuple | ast.List | ast.BoolOp | ast.IfExp | ast.Starred):
            return True
        parts += [child for child in ast.iter_child_nodes(part) if isinstance(child, ast.expr)]
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.Delete)


def _simple(lower: Lowering, statement: ast.stmt, loose: Loose) -> Loose:
    node = lower.node(statement, lower.read.simple(statement, lower.variables), loose)
    if isinstance(statement, ast.Expr) and _terminates(statement.value, lower.rules):
        lower.jump(Jump.RAISE, [(node, Arc.NEXT)], "SystemExit")
        return []
    return [(node, Arc.NEXT)]


def _terminates(value: ast.expr, rules: PythonRules) -> bool:
    if not isinstance(value, ast.Call):
        return False
    callee = value.func
    if isinstance(callee, ast.Name):
        return callee.id in rules.terminators
    if isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name):
        return f"{callee.value.id}.{callee.attr}" in rules.terminators
    return False


def _if(lower: Lowering, statement: ast.If, loose: Loose) -> Loose:
    ends: Loose = []
    while True:  # a loop, because a chain of `elif` may exceed Python's recursion limit
        node = lower.node(statement, lower.read.read(lower.variables, statement.test), loose)
        ends += lower.body(statement.body, [(node, Arc.TRUE)])
        loose = [(node, Arc.FALSE)]
        orelse = statement.orelse
        if len(orelse) != 1 or not isinstance(orelse[0], ast.If):
            return ends + lower.body(orelse, loose)
        statement = orelse[0]


def _return(lower: Lowering, statement: ast.Return, loose: Loose) -> Loose:
    node = lower.node(statement, lower.read.simple(statement, lower.variables), loose)
    lower.jump(Jump.RETURN, [(node, Arc.NEXT)])
    return []


def _raise(lower: Lowering, statement: ast.Raise, loose: Loose) -> Loose:
    node = lower.node(statement, lower.read.simple(statement, lower.variables), loose)
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    lower.jump(Jump.RAISE, [(node, Arc.NEXT)], raised.id if isinstance(raised, ast.Name) else None)
    return []


def _assert(lower: Lowering, statement: ast.Assert, loose: Loose) -> Loose:
    node = lower.node(statement, lower.read.simple(statement, lower.variables), loose)
    lower.jump(Jump.RAISE, [(node, Arc.FALSE)], "AssertionError")
    return [(node, Arc.TRUE)]


def _break(lower: Lowering, statement: ast.Break, loose: Loose) -> Loose:
    lower.jump(Jump.BREAK, [(lower.node(statement, None, loose), Arc.NEXT)])
    return []


def _continue(lower: Lowering, statement: ast.Continue, loose: Loose) -> Loose:
    lower.jump(Jump.CONTINUE, [(lower.node(statement, None, loose), Arc.NEXT)])
    return []


def _def(lower: Lowering, statement: ast.FunctionDef | ast.AsyncFunctionDef, loose: Loose) -> Loose:
    return [(lower.node(statement, lower.read.definition(statement, lower.variables), loose), Arc.NEXT)]


def _class(lower: Lowering, statement: ast.ClassDef, loose: Loose) -> Loose:
    outer = lower.variables
    node = lower.node(statement, lower.read.header(statement, outer), loose)
    inner = ClassVariables(lower._scopes.names(statement), outer)
    lower.variables = inner
    loose = lower.body(statement.body, [(node, Arc.NEXT)])
    lower.variables = outer
    if not loose:
        return []
    made = Effects(reads=inner.own(), strong={outer.write(statement.name)})
    return [(lower.node(statement, made, loose), Arc.NEXT)]


_COMPOUND: dict[type[ast.stmt], LowerStatement] = {
    ast.If: _if,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.ClassDef: _class,
    **dict.fromkeys(FUNCTIONS, _def),
}


def lowers(*kinds: type[ast.stmt]) -> Callable[[LowerStatement], LowerStatement]:
    """Register a lowering function for statement classes."""

    def register(lower: LowerStatement) -> LowerStatement:
        _COMPOUND.update(dict.fromkeys(kinds, lower))
        return lower

    return register
