"""Diagnostics where the model finds code surprising: few, and each says what was expected instead."""

from __future__ import annotations

import math

from lsprotocol import types

from counterlens.confidence import Confidence, NodeConfidence
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.places import Places
from counterlens.lsp.settings import Settings
from counterlens.reports.wording import share
from counterlens.syntax.concepts import FREE_TEXT

SOURCE = "counterlens"
PER_HUNDRED_LINES = 8
"""At most so many surprising places: people want highlights that are few."""

_SEVERITIES = {
    "hint": types.DiagnosticSeverity.Hint,
    "information": types.DiagnosticSeverity.Information,
}


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.diagnostics.append(_diagnostics)


def _diagnostics(ls: CounterlensServer, analysis: Analysis) -> list[types.Diagnostic]:
    if not ls.settings.diagnostics_enabled or analysis.confidence is None:
        return []
    return surprising(analysis.confidence, ls.places(analysis), ls.settings, ls.host.name)


def surprising(found: Confidence, places: Places, settings: Settings, model: str) -> list[types.Diagnostic]:
    """One diagnostic a surprising place."""
    limit = max(1, math.ceil(found.document.positions.lines * PER_HUNDRED_LINES / 100))
    leaves = _code_leaves(found)
    candidates: dict[tuple[int, int], tuple[float, int, NodeConfidence]] = {}
    threshold = math.log(settings.diagnostics_threshold) if settings.diagnostics_threshold > 0 else -math.inf
    for leaf in leaves:
        token = found.least_certain(leaf)
        if token is None or found.scores.logprob[token] >= threshold:
            continue
        logprob = float(found.scores.logprob[token])
        key = (leaf.start, leaf.end)
        if key not in candidates or logprob < candidates[key][0]:
            candidates[key] = (logprob, token, leaf)
    worst = sorted(candidates.values(), key=lambda one: one[0])[:limit]
    return [
        types.Diagnostic(
            range=places.range(leaf.start, leaf.end),
            message=_message(found, leaf, token, model),
            severity=_SEVERITIES[settings.diagnostics_severity],
            source=SOURCE,
            code="surprising-token",
        )
        for _, token, leaf in sorted(worst, key=lambda one: one[2].start)
    ]


def _code_leaves(found: Confidence) -> list[NodeConfidence]:
    """The nodes without children that are code: not free text, and not blank."""
    leaves = []
    for node, following in zip(found.nodes, [*found.nodes[1:], None], strict=True):
        has_children = following is not None and following.depth > node.depth
        if has_children or node.kind in FREE_TEXT or node.end <= node.start:
            continue
        if any(char.isalnum() or char == "_" for char in _text(found, node.start, node.end)) or node.named:
            leaves.append(node)
    return leaves


def _message(found: Confidence, leaf: NodeConfidence, token: int, model: str) -> str:
    shown = share(math.exp(float(found.scores.logprob[token])))
    text = _text(found, leaf.start, leaf.end)
    text = text if len(text) <= 30 else text[:29] + "…"
    alternatives = found.scores.alternative_text[token]
    logprobs = found.scores.alternative_logprob[token].tolist()
    expected = [
        f"`{alternative.strip()}` ({share(math.exp(logprob))})"
        for alternative, logprob in zip(alternatives, logprobs, strict=False)
        if alternative.strip()
    ]
    hint = f"; it expected {expected[0]}" if expected else ""
    return f"{model} finds `{text}` very unlikely here ({shown}){hint}."


def _text(found: Confidence, start: int, end: int) -> str:
    return found.document.data[start:end].decode("utf-8", "replace")
