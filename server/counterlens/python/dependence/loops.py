"""Lowers `while`, `for` and `async for`.

PythonRules:

- A `for` has three nodes: evaluating the iterable, once; taking the next element or leaving, which branches;
  binding the target, if there was an element. An empty iterable therefore leaves the target unchanged.
- Taking the next element reads the iterated objects again, because the body may have changed them.
- Data leaves a `while` with a constant true condition only by `break`; for control dependence the `while` is
  a branch like any other, so that its body depends on it, as people label it, and a `break` on its `if`.
- Without a `break`, control leaves it to the handlers around it, or else to the end of the function.
- `else` runs when the loop ends by its condition, not after `break`.
"""

from __future__ import annotations

import ast

from counterlens.dependence.cfg import Arc, Loose
from counterlens.dependence.frames import Loop
from counterlens.python.dependence.lowering import Lowering, lowers


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
