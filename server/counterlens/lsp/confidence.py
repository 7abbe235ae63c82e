"""The model's confidence in code: overlay data in a few fixed levels, inlay hints, and a readable report.

The overlay is the custom request `counterlens/overlay`, see docs/protocol.md. Inlay hints show the confidence
of each statement or function at the end of its first line; they are off by default. The report is for the
tool of an assistant: command `counterlens.confidence`, argument `{uri, function? | position?}`, answer
`ConfidenceAnswer`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from lsprotocol import types

from counterlens.confidence import Confidence, NodeConfidence
from counterlens.confidence.granularity import (
    LABELS,
    Granularity,
    Span,
    calm,
    spans,
    visible_first,
)
from counterlens.confidence.scoring import measure
from counterlens.lsp.analysis import Analysis, ScoringState
from counterlens.lsp.background import ScoredDocument
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.places import Places
from counterlens.lsp.progress import refusing, with_progress
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.targets import document_named, document_of, function_named, plain, range_of
from counterlens.progress import Steps
from counterlens.reports.build.confidence import confidence_report
from counterlens.reports.render import markdown
from counterlens.reports.wording import share
from counterlens.syntax.statements import is_part_of_statement, is_statement

OVERLAY_REQUEST = "counterlens/overlay"
MOST_SPANS = 10_000
"""Maximum number of spans in one answer; visible ones come first."""
MOST_HINTS = 1_500
"""Maximum number of hints in one answer: more make editors slow."""
_FUNCTIONS = ("function_definition", "function_declaration", "method_definition", "method_declaration")
REPORT_COMMAND = "counterlens.confidence"


def register(server: CounterlensServer) -> None:
    server.feature(OVERLAY_REQUEST)(_overlay)
    server.prepare.append(_prepare)
    server.feature(types.TEXT_DOCUMENT_INLAY_HINT)(_inlay_hints)
    server.when_changed.append(_refresh)
    server.command(REPORT_COMMAND)(_confidence)


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
    levels: int
    labels: tuple[str, ...]
    spans: tuple[OverlaySpan, ...]


def _prepare(settings: EditorSettings, scored: ScoredDocument) -> None:
    """Compute the spans that a client will most likely request."""
    granularity, few = settings.overlay_granularity, settings.overlay_calm
    scored.memo.get(("overlay", granularity, few), lambda: _spans(scored.confidence, granularity, few))


async def _overlay(ls: CounterlensServer, params: Any) -> Overlay:
    """Answer the request with the current results; off the event loop, as long files have many spans."""
    wanted = getattr(params, "granularity", None)
    granularity = Granularity(wanted) if wanted in list(Granularity) else ls.settings.overlay_granularity
    asked = getattr(params, "calm", None)
    few = asked if isinstance(asked, bool) else ls.settings.overlay_calm
    analysis = ls.analyses.get(document_of(params))
    if analysis is None:
        return Overlay(-1, ScoringState.UNAVAILABLE, "the document is not open", granularity, few, 0, (), ())
    only, visible = range_of(getattr(params, "range", None)), range_of(getattr(params, "visible", None))
    places, seen = ls.places(analysis), visible or only
    if seen is not None:
        analysis.visible = seen
        ls.scorer.look(analysis.uri, (places.offset(seen.start), places.offset(seen.end)))
        for react in ls.when_looked:
            react(ls, analysis)
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
            ("overlay", granularity, few), lambda: _spans(confidence, granularity, few)
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
        levels=len(LABELS),
        labels=tuple(LABELS),
        spans=tuple(
            OverlaySpan(places.range(span.start, span.end), span.level, span.value, span.kind, span.category)
            for span in chosen[:MOST_SPANS]
        ),
    )


def _spans(confidence: Confidence, granularity: Granularity, few: bool) -> list[Span]:
    """The spans of a document."""
    made = spans(confidence, granularity)
    return calm(confidence, made, granularity) if few else made


def _inlay_hints(ls: CounterlensServer, params: types.InlayHintParams) -> list[types.InlayHint]:
    """Return the hints of a range immediately."""
    analysis = ls.analyses.get(params.text_document.uri)
    if analysis is None or analysis.shown is None or not ls.settings.inlay_hints_enabled:
        return []
    places, confidence = ls.places(analysis), analysis.shown
    low, high = places.offset(params.range.start), places.offset(params.range.end)
    by = ls.settings.inlay_hints_by
    hints: dict[int, types.InlayHint] = {}
    for node in confidence.nodes:
        if len(hints) == MOST_HINTS or node.start > high:
            break
        if node.confidence is None or not _is_wanted(confidence, node, by):
            continue
        at = _line_end(analysis, node)
        if low <= at <= high and at not in hints:  # the first (outer) one of several statements on a line
            hints[at] = types.InlayHint(
                position=places.position(at),
                label=share(node.confidence),
                tooltip=(
                    f"{ls.host.name}: confidence of this {node.kind}; least certain token: "
                    f"{share(node.minimum or 0.0)}. Confidence does not measure correctness."
                ),
                padding_left=True,
            )
    return list(hints.values())


def _is_wanted(confidence: Confidence, node: NodeConfidence, by: str) -> bool:
    if by == "function":
        return node.kind in _FUNCTIONS
    if node.parent < 0:
        return False
    parent = confidence.nodes[node.parent]
    last = node.end == parent.end
    return is_statement(node.kind) and not is_part_of_statement(node.kind, parent.kind, last=last)


def _line_end(analysis: Analysis, node: NodeConfidence) -> int:
    """The end of the first line of a node, without trailing blanks."""
    positions, data = analysis.document.positions, analysis.document.data
    line = positions.line_of(node.start)
    stop = positions.line_start(line + 1) if line + 1 < positions.lines else len(data)
    return len(data[:stop].rstrip()) if data[positions.line_start(line) : stop].strip() else stop


def _refresh(ls: CounterlensServer, _analysis: Analysis) -> None:
    """Have the client request hints again, if it supports that."""
    workspace = ls.client_capabilities.workspace
    able = workspace.inlay_hint if workspace else None
    if ls.settings.inlay_hints_enabled and able and able.refresh_support:
        ls.workspace_inlay_hint_refresh(None)


@dataclass(frozen=True, slots=True)
class ConfidenceAnswer:
    """A report, or the reason why there is none."""

    ok: bool
    markdown: str = ""
    error: str | None = None
    version: int = 0


@refusing(partial(ConfidenceAnswer, ok=False), "Measuring the confidence was cancelled.", announced=False)
async def _confidence(ls: CounterlensServer, argument: Any = None) -> ConfidenceAnswer:
    """Report the confidence on a document or on one of its functions."""
    named, settings, span = plain(argument), ls.settings, None
    analysis = document_named(ls, argument)
    document, stored_confidence = analysis.document, analysis.confidence
    if named.get("function") or named.get("position") is not None:
        _, function = function_named(ls, argument)
        span, stored_confidence = (function.start, function.end), None

    def work(steps: Steps) -> str:
        steps.next("opening the model")
        with ls.host.use_model(settings) as model:
            confidence = stored_confidence
            if confidence is None:
                confidence = measure(model, document, span=span, cancel=steps.cancel, progress=steps.report)
            return markdown.render(confidence_report(confidence, model.info, span=span))

    text = await with_progress(ls, "Measuring confidence", work)
    return ConfidenceAnswer(ok=True, markdown=text, version=document.version)
