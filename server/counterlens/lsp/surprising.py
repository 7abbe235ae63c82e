"""Marks at places that the model did not expect: few, each with the expectation.

Their actions replace the code with what the model expected, or ignore the mark.

Marks that the edit did not touch stay while a new version is being scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from lsprotocol import types

from counterlens.confidence import Confidence
from counterlens.confidence.exclusion import Ignored, ignore_comments
from counterlens.confidence.replacing import replacements
from counterlens.confidence.surprising import Floats, Leaves, Surprise, excess, surprising
from counterlens.lsp.actions import ignore_actions, replace_action
from counterlens.lsp.analysis import Analysis, Memo, ScoringState
from counterlens.lsp.background import ScoredDocument
from counterlens.lsp.base import CodeMark, CounterlensServer
from counterlens.lsp.known_results import OffsetMap
from counterlens.lsp.settings import EditorSettings
from counterlens.reports.expected import surprise_sentence
from counterlens.reports.wording import share

CODE = "surprising"


def register(server: CounterlensServer) -> None:
    server.marks.append(_marks)
    server.prepare.append(_prepare)


def _marks(ls: CounterlensServer, analysis: Analysis) -> Iterator[CodeMark]:
    """Mark the places of the current scores, or of the last ones where they are still valid."""
    confidence = analysis.confidence or (analysis.last if analysis.state is ScoringState.SCORING else None)
    if confidence is None or not ls.settings.diagnostics_enabled:
        return
    comments = ignore_comments(analysis.document)
    mapping = None
    if confidence.document is not analysis.document:
        mapping = OffsetMap.between(confidence.document.data, analysis.document.data)
    for surprise in _choose(confidence, ls.settings, comments, analysis.memo):
        place = surprise.start, surprise.end
        if (now := mapping.moved(*place) if mapping else place) is None:
            continue
        if not comments.covers(*now, surprise.category):
            yield CodeMark(
                CODE,
                *now,
                surprise_sentence(confidence, surprise, ls.host.name),
                types.DiagnosticSeverity[ls.settings.diagnostics_severity.capitalize()],
                partial(_actions, ls, analysis, *now, surprise),
                {"category": surprise.category},
            )


def _actions(
    ls: CounterlensServer, analysis: Analysis, start: int, end: int, surprise: Surprise
) -> Iterator[types.CodeAction]:
    token, confidence = surprise.token, analysis.confidence
    if confidence is not None:
        expected = analysis.memo.get(("replacements", token), lambda: replacements(confidence, token))
        for other in expected:
            title = f"Replace with `{other.text}` ({share(other.probability)})"
            yield replace_action(ls, analysis, other.start, other.end, other.text, title)
    yield from ignore_actions(ls, analysis, start, end, surprise.category)


def _prepare(settings: EditorSettings, scored: ScoredDocument) -> None:
    if settings.diagnostics_enabled:
        _choose(scored.confidence, settings, ignore_comments(scored.confidence.document), scored.memo)


def _choose(
    confidence: Confidence, settings: EditorSettings, comments: Ignored, memo: Memo
) -> tuple[Surprise, ...]:
    """Choose surprises: a hidden mark makes room for another; one ignored by a comment does not."""
    hidden = frozenset(settings.ignored_concepts) | comments.everywhere
    budget = settings.diagnostics_per_hundred_lines

    def weight(rows: Leaves) -> Floats:
        shown = [confidence.nodes[node].category not in hidden for node in rows.node.tolist()]
        return np.where(shown, excess(rows), -np.inf)

    return memo.get(
        ("surprising", budget, hidden),
        lambda: surprising(confidence, per_hundred_lines=budget, weight=weight if hidden else None),
    )
