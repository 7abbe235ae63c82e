"""Overlay data: the model's confidence in each piece of code, in a few fixed levels.

Custom request `counterlens/overlay`, see docs/protocol.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lsprotocol import types

from counterlens.confidence import Confidence
from counterlens.confidence.calibration import Calibration
from counterlens.confidence.calm import calm
from counterlens.confidence.granularity import (
    LABELS,
    Granularity,
    Span,
    level_of,
    spans,
    visible_first,
)
from counterlens.lsp.analysis import Analysis, ScoringState
from counterlens.lsp.background import ScoredDocument
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import t, translator
from counterlens.lsp.places import Places
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.targets import document_of, range_of
from counterlens.reports.correctness_wording import level_labels

REQUEST = "counterlens/overlay"
MOST = 10_000
"""Maximum number of spans in one answer; visible ones come first."""


@dataclass(frozen=True, slots=True)
class OverlaySpan:
    """A piece of code and its level."""

    range: types.Range
    level: int
    confidence: float
    kind: str
    category: str


@dataclass(frozen=True, slots=True)
class Overlay:
    """The spans of one version of a document."""

    version: int
    state: str
    reason: str | None
    granularity: str
    calm: bool
    calibrated: bool
    levels: int
    labels: tuple[str, ...]
    spans: tuple[OverlaySpan, ...]


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.feature(REQUEST)(_overlay)
    server.prepare.append(_prepare)


def _prepare(settings: EditorSettings, scored: ScoredDocument) -> None:
    """Compute the spans that a client will most likely request."""
    granularity, few = settings.overlay_granularity, settings.overlay_calm
    scored.memo.get(
        ("overlay", granularity, few), lambda: _spans(scored.shown, granularity, scored.calibration, few)
    )


async def _overlay(ls: CounterlensServer, params: Any) -> Overlay:
    """Answer the request with the current results; off the event loop, as long files have many spans."""
    wanted = getattr(params, "granularity", None)
    granularity = Granularity(wanted) if wanted in list(Granularity) else ls.settings.overlay_granularity
    asked = getattr(params, "calm", None)
    few = asked if isinstance(asked, bool) else ls.settings.overlay_calm
    analysis = ls.analyses.get(document_of(params))
    if analysis is None:
        return Overlay(
            -1, ScoringState.UNAVAILABLE, t("the document is not open"), granularity, few, False, 0, (), ()
        )
    only, visible = range_of(getattr(params, "range", None)), range_of(getattr(params, "visible", None))
    places, seen = ls.places(analysis), visible or only
    if seen is not None:
        analysis.visible = seen
        ls.scorer.look(analysis.uri, (places.offset(seen.start), places.offset(seen.end)))
    return await ls.offload(
        overlay, analysis.frozen(), places, granularity, few=few, only=only, visible=visible
    )


def overlay(
    analysis: Analysis,
    places: Places,
    granularity: Granularity,
    *,
    few: bool = False,
    only: types.Range | None = None,
    visible: types.Range | None = None,
) -> Overlay:
    """The overlay of a document.

    Args:
        granularity: The kind of span.
        few: Return the few spans of a calm overlay.
        only: Return the spans that touch this range.
        visible: Return the spans that touch this range first.
    """
    confidence = analysis.shown
    chosen = []
    if confidence is not None:
        chosen = analysis.memo.get(
            ("overlay", granularity, few), lambda: _spans(confidence, granularity, analysis.calibration, few)
        )
        if only is not None:
            low, high = places.offset(only.start), places.offset(only.end)
            chosen = [span for span in chosen if span.start < high and span.end > low]
        if visible is not None:
            chosen = visible_first(chosen, (places.offset(visible.start), places.offset(visible.end)))
    return Overlay(
        version=analysis.document.version,
        state=analysis.state,
        reason=analysis.reason or None,
        granularity=granularity,
        calm=few,
        calibrated=analysis.calibration is not None,
        levels=len(LABELS),
        labels=level_labels(
            LABELS, analysis.correctness if granularity is Granularity.STATEMENT else None, translator()
        ),
        spans=tuple(
            OverlaySpan(places.range(span.start, span.end), span.level, span.value, span.kind, span.category)
            for span in chosen[:MOST]
        ),
    )


def _spans(
    confidence: Confidence, granularity: Granularity, calibration: Calibration | None, few: bool
) -> list[Span]:
    """The spans of a document. Nodes are calibrated already; spans of tokens are calibrated here."""
    made = spans(confidence, granularity)
    if few:
        return calm(confidence, made, granularity, calibration)
    if calibration is None or granularity not in {Granularity.TOKEN, Granularity.STATEMENT}:
        return made
    values = [calibration.apply(span.category, span.value) for span in made]
    return [
        replace(span, value=value, level=level_of(value)) for span, value in zip(made, values, strict=True)
    ]
