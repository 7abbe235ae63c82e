"""Lays out the statements of a function as a control-flow graph.

Rules:

- One node for a simple statement; for compound ones see the file of the construct (`loops.py`, `matching.py`,
  `exceptions.py`). `if` and `elif` are branches; a class body runs in line, and binds its name at its end.
- `assert` branches to the next statement and to where an `AssertionError` goes.
- A call in `Rules.terminators` standing alone is a `raise SystemExit`.
- Code that cannot be reached is laid out like any other, and nothing leads out of it.

Approximations: conditions other than constants are taken as possibly true and possibly false; calls return.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from counterlens.dependence.cfg import ENTRY, EXIT, NOWHERE, Arc, ControlFlowGraph, Loose
from counterlens.dependence.effects import Effects
from counterlens.dependence.frames import Finally, Frame, Handlers, Jump, Loop, Managed
from counterlens.dependence.reading import Reader
from counterlens.dependence.rules import Rules
from counterlens.dependence.scopes import FUNCTIONS, BlockNames, parameters
from counterlens.dependence.statements import Statements
from counterlens.dependence.variables import ClassVariables, Variables

Lay = Callable[["Lowering", Any, Loose], Loose]
"""Lays out a statement behind loose arcs and gives the loose arcs behind it."""


class Lowering:
    """One function on its way to a control-flow graph.

    Attributes:
        graph: The graph so far.
        frames: What lies around the statement at hand, innermost last.
        read: Finds effects.
        rules: What was chosen.
        variables: What names mean at the statement at hand.
        copying: How many `finally` bodies the statement at hand is inside of.
    """

    def __init__(
        self, statements: Statements, variables: Variables, scopes: BlockNames, read: Reader, rules: Rules
    ) -> None:
        self.graph = ControlFlowGraph(statements.header)
        self.frames: list[Frame] = []
        self.read = read
        self.rules = rules
        self.variables = variables
        self.copying = 0
        self._live_from: int | None = None  # in code that cannot be reached: the frames inside of it
        self._scopes = scopes
        self._number = statements.number

    def function(self, body: list[ast.stmt], arguments: ast.arguments | None) -> ControlFlowGraph:
        """Lay out a whole function or module."""
        if arguments is not None:
            self.graph.effects[ENTRY] = Effects(strong=set(parameters(arguments)))
        loose = self.body(body, [(ENTRY, Arc.NEXT)])
        self.graph.connect(loose, EXIT)
        return self.graph

    def body(self, statements: list[ast.stmt], loose: Loose) -> Loose:
        """Lay out statements one after the other; what can be reached leads on."""
        for number, statement in enumerate(statements):
            if self._live_from is None and all(arc is Arc.PHANTOM for _, arc in loose):
                self._live_from = len(self.frames)
                ends = self.body(statements[number:], loose)
                self._live_from = None
                self.graph.connect([(node, Arc.PHANTOM) for node, _ in ends], EXIT)
                return []
            lay = _COMPOUND.get(statement.__class__)
            loose = _simple(self, statement, loose) if lay is None else lay(self, statement, loose)
        return loose

    def node(self, statement: ast.AST, effects: Effects | None, loose: Loose) -> int:
        """Add a node behind loose arcs."""
        node = self.graph.node(self._number[statement], effects)
        self.graph.connect(loose, node)
        if self.copying:
            self.graph.copied.setdefault(self.graph.statement[node], []).append(node)
        if self.rules.implicit_exceptions and may_raise(statement):
            if not self._protected([(node, Arc.NEXT)]):
                self.graph.connect([(node, Arc.NEXT)], EXIT)
        elif self.frames:
            self._protected([(node, Arc.RAISED)])
        return node

    def branch_of(self, node: int) -> int:
        """Add a node that decides in the name of another one's statement, and is not decided about."""
        new = self.graph.node(self.graph.statement[node])
        self.graph.deciding.add(new)
        self._protected([(new, Arc.RAISED)])
        return new

    def unseen(self, effects: Effects | None, loose: Loose) -> int:
        """Add a node that stands for no statement."""
        node = self.graph.node(NOWHERE, effects)
        self.graph.connect(loose, node)
        self._protected([(node, Arc.RAISED)])
        return node

    def jump(self, jump: Jump, loose: Loose, exception: str | None = None) -> None:
        """Send loose arcs to where a jump ends.

        Args:
            jump: How the statement is left.
            loose: The arcs.
            exception: The name of the exception's class, where the source tells.
        """
        for frame in reversed(self.frames[self._live_from or 0 :]):
            if isinstance(frame, Loop):
                if jump is Jump.BREAK:
                    frame.breaks += loose
                    return
                if jump is Jump.CONTINUE:
                    frame.continues += loose
                    return
            elif isinstance(frame, Finally):
                frame.pending.setdefault(jump, []).extend(loose)
                return
            elif jump is Jump.RAISE and isinstance(frame, Handlers):
                frame.raised += loose
                frame.escapes |= not _caught(exception, frame.catches)
                return
            elif jump is Jump.RAISE and isinstance(frame, Managed):
                arc = Arc.NEXT if frame.swallows else Arc.RAISED
                frame.swallowed += [(node, arc) for node, _ in loose]
        self.graph.connect(loose, EXIT)

    def never_left(self, head: int) -> None:
        """Say that nothing but an exception leads out of an endless loop."""
        for frame in reversed(self.frames[self._live_from or 0 :]):
            if isinstance(frame, Handlers):
                frame.risky.append((head, Arc.PHANTOM))
                return
            if isinstance(frame, Finally):
                break
        self.jump(Jump.RETURN, [(head, Arc.PHANTOM)])

    def raise_implicitly(self, loose: Loose) -> None:
        """Send an exception on that no `raise` in the function raised: data flows, control does not."""
        self._protected([(node, Arc.RAISED) for node, arc in loose if arc is not Arc.PHANTOM])

    def pass_on(self, loose: Loose) -> None:
        """Send an exception on behind a `finally` body."""
        if self.rules.implicit_exceptions:
            self.jump(Jump.RAISE, loose)
            return
        self.raise_implicitly(loose)
        self.graph.connect([(node, Arc.PHANTOM) for node, _ in loose], EXIT)

    def _protected(self, raised: Loose) -> bool:
        """Send implicit exceptions to what catches them; whether anything does."""
        for frame in reversed(self.frames):
            if isinstance(frame, Managed) and frame.swallows:
                frame.risky += raised
            elif isinstance(frame, Handlers | Finally):
                frame.risky += raised
                return True
        return False


def _caught(exception: str | None, catches: frozenset[str]) -> bool:
    if "*" in catches or exception in catches:
        return True
    return "Exception" in catches and exception is not None and exception not in _NO_EXCEPTIONS


_NO_EXCEPTIONS = frozenset({"SystemExit", "KeyboardInterrupt", "GeneratorExit", "BaseException"})


def may_raise(statement: ast.AST) -> bool:
    """Whether a statement may raise by itself; reading a local variable and binding a name do not."""
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


def _terminates(value: ast.expr, rules: Rules) -> bool:
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
    while True:  # a chain of `elif` may be longer than Python can recurse
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


_COMPOUND: dict[type[ast.stmt], Lay] = {
    ast.If: _if,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.ClassDef: _class,
    **dict.fromkeys(FUNCTIONS, _def),
}


def lays_out(*kinds: type[ast.stmt]) -> Callable[[Lay], Lay]:
    """Register what lays out kinds of statements."""

    def register(lay: Lay) -> Lay:
        _COMPOUND.update(dict.fromkeys(kinds, lay))
        return lay

    return register
