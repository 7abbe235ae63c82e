"""Lowers the statements of a Python function to a control-flow graph.

Rules:

- A simple statement is one node; compound ones are described below. `if` and `elif` are branches; a class
  body runs inline, and its name is bound at its end.
- `assert` branches to the next statement and to the handler of an `AssertionError`.
- A call in `Rules.terminators` as a separate statement is a `raise SystemExit`.

Approximations: conditions other than constants may be true or false; calls return.

Rules of exceptions and `with`:

- `protected.py` describes how exceptions reach their clauses, and how `finally` is lowered. `Exception` and
  `BaseException` catch exceptions that are raised by name; `*` stands for a bare `except`.
- A clause binds its exception if it matches, and deletes it at its end.
- After a clause of `except*`, the next one is tried, too.
- `with` binds its targets at its header. A manager in `Rules.suppressors` may swallow any exception from its
  body; for data, every manager may swallow a `raise`. The code after a `with` depends on it if only a
  swallowed exception reaches that code.

Rules of `while`, `for` and `async for`:

- A `for` has three nodes: evaluating the iterable, once; taking the next element or leaving, which branches;
  binding the target, if there was an element. An empty iterable therefore leaves the target unchanged.
- Taking the next element reads the iterated objects again, because the body may have changed them.
- Data leaves a `while` with a constant true condition only by `break`; for control dependence the `while` is
  a branch like any other, so that its body depends on it, as people label it, and a `break` on its `if`.
- Without a `break`, control leaves it to the handlers around it, or else to the end of the function.
- `else` runs when the loop ends by its condition, not after `break`.

Rules of `match`:

- The subject is evaluated at `match`; each `case` tests it, so it reads the subject's variables again.
- A case without a guard whose pattern always matches does not branch.
- Captures are weakly bound if a pattern fails, and strongly bound if it matches; a guard reads them.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from functools import partial
from typing import Any

from counterlens.dependence.cfg import ENTRY, EXIT, Arc, ControlFlowGraph, Loose, Stretch
from counterlens.dependence.effects import MARK, Effects
from counterlens.dependence.layout import Finally, FlowLayout, Jump, Loop, Managed
from counterlens.dependence.protected import CONTROL, Clause, at_last, lower_protected
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


@lowers(ast.With, ast.AsyncWith)
def _with(lower: Lowering, statement: ast.With | ast.AsyncWith, loose: Loose) -> Loose:
    node = lower.node(statement, lower.read.items(lower.variables, statement.items), loose)
    frame = Managed(any(_name(item.context_expr) in lower.rules.suppressors for item in statement.items))
    frame.risky.append((node, Arc.RAISED))
    lower.frames.append(frame)
    ends = lower.body(statement.body, [(node, Arc.NEXT)])
    lower.frames.pop()
    swallowed = list(frame.swallowed)
    if frame.swallows:
        swallowed += frame.risky
    if not swallowed or any(arc in CONTROL for _, arc in ends + swallowed):
        return ends + swallowed
    after = lower.branch_of(node)  # the code after it is reached only if an exception is swallowed
    lower.graph.connect(swallowed, after)
    lower.graph.around[after] = Stretch(node, node, after)
    return [*ends, (after, Arc.TRUE)]


@lowers(ast.Try, *([ast.TryStar] if hasattr(ast, "TryStar") else []))
def _try(lower: Lowering, statement: ast.Try | ast.TryStar, loose: Loose) -> Loose:
    start = lower.node(statement, None, loose)
    last = Finally(risky=[(start, Arc.RAISED)])
    if statement.finalbody:
        lower.frames.append(last)
    loose = [(start, Arc.NEXT)]
    if statement.handlers:
        clauses = [Clause(_catches([each]), partial(_handler, lower, each)) for each in statement.handlers]
        star = not isinstance(statement, ast.Try)
        loose = lower_protected(lower, statement.body, clauses, statement.orelse, loose, star=star)
    else:
        loose = lower.body(statement.orelse, lower.body(statement.body, loose))
    if statement.finalbody:
        lower.frames.pop()
        loose = at_last(lower, statement.finalbody, loose, last)
    return loose


def _handler(lower: Lowering, handler: ast.ExceptHandler, chain: Loose) -> tuple[Loose, Loose]:
    """Lower a clause; returns the loose arcs after it, and those if it did not match."""
    test = lower.node(handler, lower.read.read(lower.variables, handler.type), chain)
    if "*" in _catches([handler]):
        matched: Loose = [(test, Arc.NEXT)]
        chain = []
    else:
        matched, chain = [(test, Arc.TRUE)], [(test, Arc.FALSE)]
    if handler.name is None:
        return lower.body(handler.body, matched), chain
    variable = lower.variables.write(handler.name)
    bound = lower.node(handler, Effects(strong={variable}), matched)
    done = lower.body(handler.body, [(bound, Arc.NEXT)])
    if done:
        done = [(lower.unseen(Effects(killed={variable}), done), Arc.NEXT)]
    return done, chain


def _catches(handlers: list[ast.ExceptHandler]) -> frozenset[str]:
    """The names of the classes that clauses catch; with `*` if they catch every named exception."""
    names: set[str] = set()
    for handler in handlers:
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        names.update("*" if kind is None else _name(kind) for kind in kinds)
    return frozenset(names | {"*"}) if "BaseException" in names else frozenset(names)


def _name(node: ast.expr) -> str:
    """The last part of a dotted name, or of a called one; empty for other expressions."""
    callee = node.func if isinstance(node, ast.Call) else node
    if isinstance(callee, ast.Name):
        return callee.id
    return callee.attr if isinstance(callee, ast.Attribute) else ""


@lowers(ast.While)
def _while(lower: Lowering, statement: ast.While, loose: Loose) -> Loose:
    endless = isinstance(statement.test, ast.Constant) and bool(statement.test.value)
    head = lower.node(statement, lower.read.read(lower.variables, statement.test), loose)
    frame = _around(lower, statement.body, [(head, Arc.TRUE)], head)
    if not endless:
        return lower.body(statement.orelse, [(head, Arc.FALSE)]) + frame.breaks
    lower.body(statement.orelse, [])
    if frame.breaks:
        return [*frame.breaks, (head, Arc.PHANTOM)]
    lower.never_left(head)
    return []


@lowers(ast.For, ast.AsyncFor)
def _for(lower: Lowering, statement: ast.For | ast.AsyncFor, loose: Loose) -> Loose:
    iterable = lower.node(statement, lower.read.read(lower.variables, statement.iter), loose)
    again = lower.read.loop(lower.variables, statement.iter)
    head = lower.node(statement, again, [(iterable, Arc.NEXT)])
    target = lower.read.store(lower.variables, statement.target)
    bound = lower.node(statement, target, [(head, Arc.TRUE)])
    frame = _around(lower, statement.body, [(bound, Arc.NEXT)], head)
    return lower.body(statement.orelse, [(head, Arc.FALSE)]) + frame.breaks


def _around(lower: Lowering, body: list[ast.stmt], loose: Loose, head: int) -> Loop:
    """Lower a loop's body, and connect its end to the loop's head."""
    frame = Loop()
    lower.frames.append(frame)
    ends = lower.body(body, loose)
    lower.frames.pop()
    lower.graph.connect(ends + frame.continues, head)
    return frame


@lowers(ast.Match)
def _match(lower: Lowering, statement: ast.Match, loose: Loose) -> Loose:
    subject = lower.read.read(lower.variables, statement.subject)
    loose = [(lower.node(statement, subject, loose), Arc.NEXT)]
    ends: Loose = []
    for case in statement.cases:
        matched, loose = _case(lower, case, subject, loose)
        ends += lower.body(case.body, matched)
    return ends + loose


def _case(lower: Lowering, case: ast.match_case, subject: Effects, loose: Loose) -> tuple[Loose, Loose]:
    """Lower a pattern and its guard; returns the loose arcs if it matched, and if not."""
    tested, captured = lower.read.pattern(case.pattern, lower.variables)
    tested.reads |= subject.reads | subject.own
    tested.whole |= subject.whole
    tested.parts |= subject.parts
    if not fails(case.pattern):
        tested.strong |= captured
        loose = [(lower.node(case, tested, loose), Arc.NEXT)]
        failed: Loose = []
    else:
        tested.weak |= captured
        node = lower.node(case, tested, loose)
        loose, failed = [(node, Arc.TRUE)], [(node, Arc.FALSE)]
        if captured:
            loose = [(lower.node(case, Effects(strong=captured), loose), Arc.NEXT)]
    if case.guard is not None:
        guard = lower.node(case, lower.read.read(lower.variables, case.guard), loose)
        loose = [(guard, Arc.TRUE)]
        failed.append((guard, Arc.FALSE))
    return loose, failed


def fails(pattern: ast.pattern) -> bool:
    """Whether a pattern may not match."""
    while isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        pattern = pattern.pattern
    if isinstance(pattern, ast.MatchOr):
        return all(fails(part) for part in pattern.patterns)
    return not isinstance(pattern, ast.MatchAs)
