"""Lowers `try`, `try` with `except*`, and `with`.

PythonRules:

- `protected.py` describes how exceptions reach their clauses, and how `finally` is lowered. `Exception` and
  `BaseException` catch exceptions that are raised by name; `*` stands for a bare `except`.
- A clause binds its exception if it matches, and deletes it at its end.
- After a clause of `except*`, the next one is tried, too.
- `with` binds its targets at its header. A manager in `Rules.suppressors` may swallow any exception from its
  body; for data, every manager may swallow a `raise`. The code after a `with` depends on it if only a
  swallowed exception reaches that code.
"""

from __future__ import annotations

import ast
from functools import partial

from counterlens.dependence.cfg import Arc, Loose, Stretch
from counterlens.dependence.effects import Effects
from counterlens.dependence.frames import Finally, Managed
from counterlens.dependence.protected import CONTROL, Clause, at_last, lower_protected
from counterlens.python.dependence.lowering import Lowering, lowers


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
        loose = _lower_try(lower, statement, loose)
    else:
        loose = lower.body(statement.orelse, lower.body(statement.body, loose))
    if statement.finalbody:
        lower.frames.pop()
        loose = at_last(lower, statement.finalbody, loose, last)
    return loose


def _lower_try(lower: Lowering, statement: ast.Try | ast.TryStar, loose: Loose) -> Loose:
    clauses = [Clause(_catches([each]), partial(_handler, lower, each)) for each in statement.handlers]
    star = not isinstance(statement, ast.Try)
    return lower_protected(lower, statement.body, clauses, statement.orelse, loose, star=star)


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
