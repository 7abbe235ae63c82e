"""Lowers `match`.

PythonRules:

- The subject is evaluated at `match`; each `case` tests it, so it reads the subject's variables again.
- A case without a guard whose pattern always matches does not branch.
- Captures are weakly bound if a pattern fails, and strongly bound if it matches; a guard reads them.
"""

from __future__ import annotations

import ast

from counterlens.dependence.cfg import Arc, Loose
from counterlens.dependence.effects import Effects
from counterlens.python.dependence.lowering import Lowering, lowers


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
