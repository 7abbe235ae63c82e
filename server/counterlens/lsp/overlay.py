"""Overlay data: how sure the model is of each piece of code, in a few fixed levels.

Custom request `counterlens/overlay`: parameters `{textDocument: {uri}, range?}`, answer `Overlay`.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from counterlens.lsp.analysis import Analysis, State
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.places import Places
from counterlens.lsp.targets import range_of
from counterlens.syntax.concepts import FREE_TEXT

REQUEST = "counterlens/overlay"
BOUNDS = (0.01, 0.05, 0.2, 0.5, 0.8)
LABELS = ("below 1 %", "1 to 5 %", "5 to 20 %", "20 to 50 %", "50 to 80 %", "80 % and more")
"""Level 0 is the least certain."""


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.feature(REQUEST)(_overlay)


def _overlay(ls: CounterlensServer, params: Any) -> Overlay:
    """Answer the request, at once."""
    analysis = ls.analyses.get(params.textDocument.uri)
    if analysis is None:
        return Overlay(-1, State.UNAVAILABLE, "the document is not open", 0, (), ())
    return overlay(analysis, ls.places(analysis), range_of(getattr(params, "range", None)))


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of code and its level."""

    range: types.Range
    level: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Overlay:
    """The spans of one version of a document.

    Attributes:
        version: The version that they are of.
        state: `ready`, `scoring` or `unavailable`.
        reason: Why there are none.
        levels: How many levels there are.
        labels: What each means.
        spans: In the order of the text, without overlap.
    """

    version: int
    state: str
    reason: str | None
    levels: int
    labels: tuple[str, ...]
    spans: tuple[Span, ...]


def overlay(analysis: Analysis, places: Places, visible: types.Range | None) -> Overlay:
    """The overlay of a document, or of a part of it: one span per terminal node that is no prose."""
    spans: list[Span] = []
    found = analysis.confidence
    if found is not None:
        low = places.offset(visible.start) if visible else 0
        high = places.offset(visible.end) if visible else len(analysis.document.data)
        for node, following in zip(found.nodes, [*found.nodes[1:], None], strict=True):
            leaf = following is None or following.depth <= node.depth
            if not leaf or node.kind in FREE_TEXT or node.confidence is None:
                continue
            if node.end > low and node.start < high:
                level = bisect.bisect_right(BOUNDS, node.confidence)
                spans.append(Span(places.range(node.start, node.end), level, node.confidence))
    return Overlay(
        version=analysis.document.version,
        state=analysis.state,
        reason=analysis.reason or None,
        levels=len(LABELS),
        labels=LABELS,
        spans=tuple(spans),
    )
