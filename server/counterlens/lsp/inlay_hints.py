"""Inlay hints: the confidence of each statement or function at the end of its first line. Off by default."""

from __future__ import annotations

from lsprotocol import types

from counterlens.confidence import Confidence, NodeConfidence
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import t, translator
from counterlens.reports.wording import share
from counterlens.syntax.statements import is_part_of_statement, is_statement

MOST = 1_500
"""Maximum number of hints in one answer: more make editors slow."""

_FUNCTIONS = ("function_definition", "function_declaration", "method_definition", "method_declaration")


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.feature(types.TEXT_DOCUMENT_INLAY_HINT)(_inlay_hints)
    server.when_changed.append(_refresh)


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
        if len(hints) == MOST or node.start > high:
            break
        if node.confidence is None or not _is_wanted(confidence, node, by):
            continue
        at = _line_end(analysis, node)
        if low <= at <= high and at not in hints:  # the first (outer) one of several statements on a line
            hints[at] = types.InlayHint(
                position=places.position(at),
                label=share(node.confidence, translator()),
                tooltip=t(
                    "{model}: confidence of this {kind}; least certain token: {least}. Confidence does not "
                    "measure correctness.",
                    model=ls.host.name,
                    kind=node.kind,
                    least=share(node.minimum or 0.0, translator()),
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
