"""Lays out `try`, `try` with `except*`, and `with`.

Rules:

- A `raise` goes to the innermost `try` that has handlers; from there to its `except` clauses in turn. It goes
  on outwards if no clause catches its class by name (`Exception` and `BaseException` catch what is raised by
  name, `*` is a bare `except`).
- An implicit exception may be raised before and after any statement inside `try`: data flows from there to
  the handlers. Control dependence sees it as one branch at the end of the `try` body, belonging to the `try`
  statement: either the body ends, or a handler runs. What depends on the body's end depends on what decides
  whether it is reached, too. An implicit exception that no clause names is taken not to happen: so the last
  clause decides about its own body alone, and not about what follows the `try`.
- A clause binds its exception where it matches, and deletes it at its end.
- After a clause of `except*`, the next one is tried, too.
- A `finally` body is laid out once for each way into it: the end of the body, each kind of jump, exceptions.
  More than three deep inside each other they are laid out once for all ways (control may then seem to go in
  one way and out another).
- `with` binds its targets at its header. A manager in `Rules.suppressors` may swallow any exception from its
  body; for data, every manager may swallow a `raise`. Where nothing but a swallowed exception leads on, what
  follows depends on the `with`.
"""

from __future__ import annotations

import ast

from counterlens.dependence.cfg import Arc, Loose, Stretch
from counterlens.dependence.effects import Effects
from counterlens.dependence.frames import Finally, Handlers, Jump, Managed
from counterlens.dependence.lowering import Lowering, lays_out

_MOST_COPIES = 3
_CONTROL = (Arc.NEXT, Arc.TRUE, Arc.FALSE)


@lays_out(ast.With, ast.AsyncWith)
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
    if not swallowed or any(arc in _CONTROL for _, arc in ends + swallowed):
        return ends + swallowed
    after = lower.branch_of(node)  # only an exception that is swallowed leads on
    lower.graph.connect(swallowed, after)
    lower.graph.around[after] = Stretch(node, node, after)
    return [*ends, (after, Arc.TRUE)]


@lays_out(ast.Try, *([ast.TryStar] if hasattr(ast, "TryStar") else []))
def _try(lower: Lowering, statement: ast.Try | ast.TryStar, loose: Loose) -> Loose:
    start = lower.node(statement, None, loose)
    last = Finally(risky=[(start, Arc.RAISED)])
    if statement.finalbody:
        lower.frames.append(last)
    loose = [(start, Arc.NEXT)]
    if statement.handlers:
        loose = _handled(lower, statement, loose)
    else:
        loose = lower.body(statement.orelse, lower.body(statement.body, loose))
    if statement.finalbody:
        lower.frames.pop()
        loose = _finally(lower, statement.finalbody, loose, last)
    return loose


def _handled(lower: Lowering, statement: ast.Try | ast.TryStar, loose: Loose) -> Loose:
    """Lay out the body, the handlers and the `else` of a `try`."""
    frame = Handlers(_catches(statement.handlers), risky=[(node, Arc.RAISED) for node, _ in loose])
    lower.frames.append(frame)
    ends = lower.body(statement.body, loose)
    lower.frames.pop()
    chain = list(frame.raised)
    if lower.rules.implicit_exceptions:
        chain += frame.risky
    else:
        raised = lower.branch_of(loose[0][0])
        lower.graph.connect(frame.risky, raised)
        if any(arc in _CONTROL for _, arc in ends):
            end = lower.branch_of(raised)
            lower.graph.completing[end] = loose[0][0]
            lower.graph.connect(ends, end)
            lower.graph.connect([(end, Arc.TRUE)], raised)
            ends = [(end, Arc.FALSE)]
        else:
            lower.graph.around[raised] = Stretch(loose[0][0], loose[0][0], raised)
        chain.append((raised, Arc.TRUE))
    ends = lower.body(statement.orelse, ends)
    star = not isinstance(statement, ast.Try)
    clause = None
    for handler in statement.handlers:
        first = len(lower.graph)
        done, chain = _handler(lower, handler, chain)
        clause = Stretch(first + 1, first + 1, len(lower.graph) - 1)
        if star:
            chain += done
        else:
            ends += done
    if star:
        ends += chain  # the clauses before may have taken all there was
    _unmatched(lower, frame, chain, None if star else clause)
    return ends


def _handler(lower: Lowering, handler: ast.ExceptHandler, chain: Loose) -> tuple[Loose, Loose]:
    """Lay out a clause: the arcs behind it, and those if it did not match."""
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


def _unmatched(lower: Lowering, frame: Handlers, chain: Loose, clause: Stretch | None) -> None:
    """Send on what no clause caught; the last clause decides about its own body alone."""
    if lower.rules.implicit_exceptions or frame.escapes:
        if chain:
            lower.jump(Jump.RAISE, chain)
        return
    lower.raise_implicitly(chain)
    if clause is not None:
        lower.graph.around.update((test, clause) for test, _ in chain)


def _finally(lower: Lowering, body: list[ast.stmt], loose: Loose, frame: Finally) -> Loose:
    """Lay out a `finally` body for every way into it."""
    if lower.copying >= _MOST_COPIES:
        return _shared(lower, body, loose, frame)
    lower.copying += 1
    result = _copy(lower, body, loose)
    for jump, arcs in frame.pending.items():
        lower.jump(jump, _copy(lower, body, arcs))
    lower.pass_on(_copy(lower, body, frame.risky))
    lower.copying -= 1
    return result


def _shared(lower: Lowering, body: list[ast.stmt], loose: Loose, frame: Finally) -> Loose:
    ways = [arc for arcs in frame.pending.values() for arc in arcs]
    ends = _copy(lower, body, loose + ways + frame.risky)
    for jump in frame.pending:
        lower.jump(jump, ends)
    lower.pass_on(ends)
    return ends if loose else []


def _copy(lower: Lowering, body: list[ast.stmt], loose: Loose) -> Loose:
    if not loose:
        return []
    if any(arc is not Arc.PHANTOM for _, arc in loose):  # from here, too, an exception may go on outwards
        loose = [(lower.unseen(None, loose), Arc.NEXT)]
    return lower.body(body, loose)


def _catches(handlers: list[ast.ExceptHandler]) -> frozenset[str]:
    """The classes that clauses catch, by name; `*` if they catch everything that a `raise` names."""
    found: set[str] = set()
    for handler in handlers:
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        found.update("*" if kind is None else _name(kind) for kind in kinds)
    return frozenset(found | {"*"}) if "BaseException" in found else frozenset(found)


def _name(node: ast.expr) -> str:
    """The last name of a dotted name or of what is called."""
    callee = node.func if isinstance(node, ast.Call) else node
    if isinstance(callee, ast.Name):
        return callee.id
    return callee.attr if isinstance(callee, ast.Attribute) else ""
