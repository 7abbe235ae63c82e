"""Lowers protected code: `try` bodies, handlers and `finally`.

Rules:

- An explicit exception goes to the innermost `try` with handlers, and there to its clauses in turn. If no
  clause catches its class by name, it propagates outwards (see `FlowLayout.caught`; `*` catches all).
- An implicit exception may be raised before and after any statement inside `try`: data flows from there to
  the handlers. For control dependence there is one branch at the end of the `try` body, as part of the `try`
  statement: either the body completes, or a handler runs. Code that depends on the body's completion also
  depends on the decisions about reaching it. Implicit exceptions that no clause names are assumed not to
  happen: the last clause therefore decides only about its own body, not about the code after the `try`.
- A `finally` body is copied for each path into it: the end of the body, each kind of jump, exceptions. If
  nested more than three deep, one copy serves all paths (control may then seem to enter by one path and leave
  by another).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from counterlens.dependence.cfg import Arc, Loose, Stretch
from counterlens.dependence.layout import Finally, FlowLayout, Handlers, Jump, Syntax

_MOST_COPIES = 3
CONTROL = (Arc.NEXT, Arc.TRUE, Arc.FALSE)


@dataclass(frozen=True, slots=True)
class Clause:
    """An exception handler.

    Attributes:
        catches: The names of the classes that it catches; `*` stands for all.
        lower: Lowers it; returns the loose arcs after it, and those if it did not match.
    """

    catches: frozenset[str]
    lower: Callable[[Loose], tuple[Loose, Loose]]


def lower_protected(
    lower: FlowLayout[Syntax],
    body: Sequence[Syntax],
    clauses: Sequence[Clause],
    otherwise: Sequence[Syntax],
    loose: Loose,
    *,
    star: bool = False,
) -> Loose:
    """Lower a protected body, its clauses and the code that runs if nothing was raised.

    Args:
        lower: The lowering of the function.
        body: The protected statements.
        clauses: The exception handlers.
        otherwise: The statements of the `else`.
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
        done, chain = clause.lower(chain)
        last = Stretch(first + 1, first + 1, len(lower.graph) - 1)
        if star:
            chain += done
        else:
            ends += done
    if star:
        ends += chain  # the earlier clauses may have caught all exceptions of the group
    _propagate_unmatched(lower, frame, chain, None if star else last)
    return ends


def _propagate_unmatched(
    lower: FlowLayout[Syntax], frame: Handlers, chain: Loose, clause: Stretch | None
) -> None:
    """Propagate what no clause caught; the last clause decides only about its own body."""
    if lower.rules.implicit_exceptions or frame.escapes:
        if chain:
            lower.jump(Jump.RAISE, chain)
        return
    lower.raise_implicitly(chain)
    if clause is not None:
        lower.graph.around.update((test, clause) for test, _ in chain)


def at_last(lower: FlowLayout[Syntax], body: Sequence[Syntax], loose: Loose, frame: Finally) -> Loose:
    """Lower a `finally` body for every path into it."""
    if lower.copying >= _MOST_COPIES:
        ways = [arc for arcs in frame.pending.values() for arc in arcs]
        ends = _copy(lower, body, loose + ways + frame.risky)
        for jump, label in frame.pending:
            lower.jump(jump, ends, label=label)
        lower.pass_on(ends)
        return ends if loose else []
    lower.copying += 1
    result = _copy(lower, body, loose)
    for (jump, label), arcs in frame.pending.items():
        lower.jump(jump, _copy(lower, body, arcs), label=label)
    lower.pass_on(_copy(lower, body, frame.risky))
    lower.copying -= 1
    return result


def _copy(lower: FlowLayout[Syntax], body: Sequence[Syntax], loose: Loose) -> Loose:
    if not loose:
        return []
    if any(arc is not Arc.PHANTOM for _, arc in loose):  # an exception may propagate from here, too
        loose = [(lower.unseen(None, loose), Arc.NEXT)]
    return lower.body(body, loose)
