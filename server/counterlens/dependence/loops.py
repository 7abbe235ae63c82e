"""Lays out `while`, `for` and `async for`.

Rules:

- A `for` is three nodes: evaluating the iterable, once; taking the next element or leaving, which branches;
  binding the target, if there was an element. So an empty iterable leaves the target as it was.
- Taking the next element reads the iterated objects again: what the body does to them matters to it.
- No data flows out of a `while` whose condition is a true constant but by `break`; for control dependence it
  is a branch like any other, so that its body depends on it, as people say, and a `break` on its `if`.
- Where there is no `break`, control leaves it for the handlers around it, else for the end of the function.
- `else` runs when the loop ends by its condition, not after `break`.
"""

from __future__ import annotations

import ast

from counterlens.dependence.cfg import Arc, Loose
from counterlens.dependence.frames import Loop
from counterlens.dependence.lowering import Lowering, lays_out


@lays_out(ast.While)
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


@lays_out(ast.For, ast.AsyncFor)
def _for(lower: Lowering, statement: ast.For | ast.AsyncFor, loose: Loose) -> Loose:
    iterable = lower.node(statement, lower.read.read(lower.variables, statement.iter), loose)
    again = lower.read.loop(lower.variables, statement.iter)
    head = lower.node(statement, again, [(iterable, Arc.NEXT)])
    target = lower.read.store(lower.variables, statement.target)
    bound = lower.node(statement, target, [(head, Arc.TRUE)])
    frame = _around(lower, statement.body, [(bound, Arc.NEXT)], head)
    return lower.body(statement.orelse, [(head, Arc.FALSE)]) + frame.breaks


def _around(lower: Lowering, body: list[ast.stmt], loose: Loose, head: int) -> Loop:
    """Lay out a loop's body and close the loop."""
    frame = Loop()
    lower.frames.append(frame)
    ends = lower.body(body, loose)
    lower.frames.pop()
    lower.graph.connect(ends + frame.continues, head)
    return frame
