"""Lays out what `try` protects: handlers, and `finally`.

Rules:

- An explicit exception goes to the innermost `try` that has handlers; from there to its clauses in turn. It
  goes on outwards if no clause catches its class by name (see `FlowLayout.caught`; `*` catches all).
- An implicit exception may be raised before and after any statement inside `try`: data flows from there to
  the handlers. Control dependence sees it as one branch at the end of the `try` body, belonging to the `try`
  statement: either the body ends, or a handler runs. Code that depends on the body's end also depends on the
  decisions that reach it. An implicit exception that no clause names is taken not to happen: so the last
  clause decides about its own body alone, and not about what follows the `try`.
- A `finally` body is laid out once for each way into it: the end of the body, each kind of jump, exceptions.
  More than three deep inside each other they are laid out once for all ways (control may then seem to go in
  one way and out another).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from counterlens.dependence.cfg import Arc, Loose, Stretch
from counterlens.dependence.frames import Finally, Handlers, Jump
from counterlens.dependence.layout import FlowLayout, Syntax

_MOST_COPIES = 3
CONTROL = (Arc.NEXT, Arc.TRUE, Arc.FALSE)


@dataclass(frozen=True, slots=True)
class Clause:
    """The handlers of some exceptions.

    Attributes:
        catches: The names of their classes; `*` is all.
        lay: Lays it out: the arcs behind it, and those if it did not match.
    """

    catches: frozenset[str]
    lay: Callable[[Loose], tuple[Loose, Loose]]


def handled(
    lower: FlowLayout[Syntax],
    body: Sequence[Syntax],
    clauses: Sequence[Clause],
    otherwise: Sequence[Syntax],
    loose: Loose,
    *,
    star: bool = False,
) -> Loose:
    """Lay out a protected body, its clauses and what runs if nothing was raised.

    Args:
        lower: Where.
        body: The protected statements.
        clauses: The exception handlers.
        otherwise: The `else` of it.
        loose: The arcs to the body, from the node of the `try`.
        star: Whether several clauses may run, as with `except*`.
    """
    catches = frozenset[str]().union(*(clause.catches for clause in clauses))
    frame = Handlers(catches, risky=[(node, Arc.RAISED) for node, _ in loose])
    lower.frames.append(frame)
    ends = lower.body(body, loose)
    lower.frames.pop()
    chain = list(frame.raised)
    if lower.rules.implicit_exceptions:
        chain += frame.risky
    else:
        raised = lower.branch_of(loose[0][0])
        lower.graph.connect(frame.risky, raised)
        if any(arc in CONTROL for _, arc in ends):
            end = lower.branch_of(raised)
            lower.graph.completing[end] = loose[0][0]
            lower.graph.connect(ends, end)
            lower.graph.connect([(end, Arc.TRUE)], raised)
            ends = [(end, Arc.FALSE)]
        else:
            lower.graph.around[raised] = Stretch(loose[0][0], loose[0][0], raised)
        chain.append((raised, Arc.TRUE))
    ends = lower.body(otherwise, ends)
    last = None
    for clause in clauses:
        first = len(lower.graph)
        done, chain = clause.lay(chain)
        last = Stretch(first + 1, first + 1, len(lower.graph) - 1)
        if star:
            chain += done
        else:
            ends += done
    if star:
        ends += chain  # the clauses before may have taken all there was
    _unmatched(lower, frame, chain, None if star else last)
    return ends


def _unmatched(lower: FlowLayout[Syntax], frame: Handlers, chain: Loose, clause: Stretch | None) -> None:
    """Send on what no clause caught; the last clause decides about its own body alone."""
    if lower.rules.implicit_exceptions or frame.escapes:
        if chain:
            lower.jump(Jump.RAISE, chain)
        return
    lower.raise_implicitly(chain)
    if clause is not None:
        lower.graph.around.update((test, clause) for test, _ in chain)


def at_last(lower: FlowLayout[Syntax], body: Sequence[Syntax], loose: Loose, frame: Finally) -> Loose:
    """Lay out a `finally` body for every way into it."""
    if lower.copying >= _MOST_COPIES:
        return _shared(lower, body, loose, frame)
    lower.copying += 1
    result = _copy(lower, body, loose)
    for (jump, label), arcs in frame.pending.items():
        lower.jump(jump, _copy(lower, body, arcs), label=label)
    lower.pass_on(_copy(lower, body, frame.risky))
    lower.copying -= 1
    return result


def _shared(lower: FlowLayout[Syntax], body: Sequence[Syntax], loose: Loose, frame: Finally) -> Loose:
    ways = [arc for arcs in frame.pending.values() for arc in arcs]
    ends = _copy(lower, body, loose + ways + frame.risky)
    for jump, label in frame.pending:
        lower.jump(jump, ends, label=label)
    lower.pass_on(ends)
    return ends if loose else []


def _copy(lower: FlowLayout[Syntax], body: Sequence[Syntax], loose: Loose) -> Loose:
    if not loose:
        return []
    if any(arc is not Arc.PHANTOM for _, arc in loose):  # from here, too, an exception may go on outwards
        loose = [(lower.unseen(None, loose), Arc.NEXT)]
    return lower.body(body, loose)
