"""Diagnostics at places that the model did not expect: few, each with the expectation.

Marks that the edit did not touch stay while a new version is being scored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from lsprotocol import types

from counterlens.confidence import Confidence
from counterlens.confidence.exclusion import Ignored, ignore_comments
from counterlens.confidence.leaves import Floats, Leaves
from counterlens.confidence.surprising import Surprise, excess, surprising
from counterlens.lsp.analysis import Analysis, Memo, ScoringState
from counterlens.lsp.background import ScoredDocument
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.edit_mapping import OffsetMap
from counterlens.lsp.language import translator
from counterlens.lsp.settings import EditorSettings
from counterlens.reports.expected import surprise_sentence

CODE = "surprising"


@dataclass(frozen=True, slots=True)
class Mark:
    """A surprising place in the newest version of a document.

    Attributes:
        start: First byte in the newest version.
        end: The byte after the last.
        surprise: The surprise, in the version that was scored.
    """

    start: int
    end: int
    surprise: Surprise


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.diagnostics.append(_diagnostics)
    server.prepare.append(_prepare)


def marks(analysis: Analysis, settings: EditorSettings) -> list[Mark]:
    """The places to show: from the current scores, or from the last ones if they are still valid."""
    confidence = analysis.confidence or (analysis.last if analysis.state is ScoringState.SCORING else None)
    if confidence is None or not settings.diagnostics_enabled:
        return []
    comments = ignore_comments(analysis.document)
    chosen = _choose(confidence, settings, comments, analysis.memo)
    return [
        mark
        for mark in _move(confidence, analysis, chosen)
        if not comments.covers(mark.start, mark.end, mark.surprise.category)
    ]


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


def _move(confidence: Confidence, analysis: Analysis, chosen: tuple[Surprise, ...]) -> list[Mark]:
    if confidence.document is analysis.document:
        return [Mark(surprise.start, surprise.end, surprise) for surprise in chosen]
    mapping = OffsetMap.between(confidence.document.data, analysis.document.data)
    places = ((mapping.moved(surprise.start, surprise.end), surprise) for surprise in chosen)
    return [Mark(*place, surprise) for place, surprise in places if place is not None]


def _diagnostics(ls: CounterlensServer, analysis: Analysis) -> list[types.Diagnostic]:
    places = ls.places(analysis)
    scored = analysis.confidence or analysis.last
    return [
        types.Diagnostic(
            range=places.range(mark.start, mark.end),
            message=surprise_sentence(scored, mark.surprise, ls.host.name, translator()),
            severity=types.DiagnosticSeverity[ls.settings.diagnostics_severity.capitalize()],
            source="counterlens",
            code=CODE,
            data={"category": mark.surprise.category},
        )
        for mark in marks(analysis, ls.settings)
        if scored is not None
    ]
