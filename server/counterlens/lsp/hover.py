"""Hover: the nodes around the cursor, innermost first; how sure the model is of each; what it expected."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from lsprotocol import types

from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import t, translator
from counterlens.lsp.places import Places
from counterlens.metrics.summary import summarize
from counterlens.probes.pairs.wording import outcome
from counterlens.reports.nodes import chain_at, chain_markdown, confidence_note, expected_markdown
from counterlens.reports.render.markdown import code_span, escaped, prose
from counterlens.syntax.functions import function_at

_GRACE_SECONDS = 0.25
"""What is being asked right now may come so soon that nobody has to point at it again."""


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.feature(types.TEXT_DOCUMENT_HOVER)(_hover)


async def _hover(ls: CounterlensServer, params: types.HoverParams) -> types.Hover | None:
    """Say what is known about a place, at once; where something is being asked for it, after a moment."""
    analysis = ls.analyses.get(params.text_document.uri)
    if analysis is None:
        return None
    places = ls.places(analysis)
    offset = places.offset(params.position)
    asked = (wait(ls, analysis, offset) for wait in ls.hover_waits)
    answers = [asyncio.ensure_future(answer) for answer in asked if answer is not None]
    if answers:
        _, late = await asyncio.wait(answers, timeout=_GRACE_SECONDS)
        for answer in late:
            answer.cancel()
    more = [part for tell in ls.hovers if (part := tell(ls, analysis, offset))]
    return hover(analysis, places, params.position, ls.host.name, more)


def hover(
    analysis: Analysis, places: Places, position: types.Position, model: str, more: Sequence[str] = ()
) -> types.Hover | None:
    """What there is to say about a place, at once: also while the scores are still being made.

    Args:
        analysis: The document.
        places: Its positions.
        position: The place.
        model: The model's name.
        more: What other features have to say there.
    """
    offset = places.offset(position)
    if analysis.waits_at(offset):
        return _markdown("\n\n".join([t("*Counterlens: {model} is scoring…*", model=escaped(model)), *more]))
    found = analysis.shown
    if found is None:
        return _markdown(
            "\n\n".join([t("*Counterlens: no confidence, {reason}*", reason=prose(analysis.reason)), *more])
        )
    chain = chain_at(found, offset)
    if not chain:
        return _markdown("\n\n".join(more)) if more else None
    parts = [
        chain_markdown(found, chain, translator()),
        expected_markdown(found, chain[0], translator()),
        *more,
        _probe(analysis, offset),
        confidence_note(found, analysis.calibration, model, translator()),
    ]
    where = places.range(chain[0].start, chain[0].end)
    return _markdown("\n\n".join(part for part in parts if part), where)


def _probe(analysis: Analysis, offset: int) -> str:
    """The counterfactual effect on the function around a place, if it was probed."""
    function = function_at(analysis.document, offset) if analysis.known else None
    probe = analysis.known_function(function.qualname).probe if function else None
    if function is None or probe is None or not probe.pairs:
        return ""
    changed = summarize(probe.observations).average
    head = t("Counterfactual probe of {function}:", function=code_span(function.name))
    if changed.n:
        counts = {"count": changed.count, "n": changed.n}
        head += " " + t("{count} of {n} informative pairs changed the verdict", **counts)
    return "\n".join(
        [head, *(f"- {escaped(pair.mutation)}: {outcome(pair, translator())}" for pair in probe.pairs)]
    )


def _markdown(text: str, where: types.Range | None = None) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), where)
