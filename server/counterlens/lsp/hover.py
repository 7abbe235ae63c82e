"""Hover: the nodes around the cursor, innermost first; how sure the model is of each; what it expected."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from lsprotocol import types

from counterlens.confidence import Aggregation, Confidence, NodeConfidence
from counterlens.lsp.analysis import Analysis, ScoringState
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import t, translator
from counterlens.lsp.places import Places
from counterlens.metrics.summary import summarize
from counterlens.probes.pairs.wording import outcome
from counterlens.reports.expected import code, expected
from counterlens.reports.wording import share
from counterlens.syntax.concepts import Category
from counterlens.syntax.functions import function_at

_ROWS = 5
_GRACE_SECONDS = 0.25
"""What is being asked right now may come so soon that nobody has to point at it again."""

_DEFINITIONS = frozenset(
    f"{what}_{how}"
    for what in ("function", "method", "constructor", "class")
    for how in ("definition", "declaration")
)
"""Where the chain ends: what is around these says nothing about the place."""


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
    if analysis.state is ScoringState.SCORING:
        return _markdown("\n\n".join([t("*Counterlens: {model} is scoring…*", model=model), *more]))
    found = analysis.shown
    if found is None:
        return _markdown(
            "\n\n".join([t("*Counterlens: no confidence, {reason}*", reason=analysis.reason), *more])
        )
    offset = places.offset(position)
    chain = _chain(found, offset)
    if not chain:
        return _markdown("\n\n".join(more)) if more else None
    parts = [
        _table(found, chain),
        _expected(found, chain[0]),
        *more,
        _probe(analysis, offset),
        _note(analysis, found, model),
    ]
    where = places.range(chain[0].start, chain[0].end)
    return _markdown("\n\n".join(part for part in parts if part), where)


def _chain(found: Confidence, offset: int) -> list[NodeConfidence]:
    """The nodes around a byte up to its function or class, without those that only hold others together."""
    around = found.at(offset)
    if not around or around[0].depth == 0:
        return []
    inner, *outer = around
    chain = [inner]
    for node in outer:
        holder = node.category is Category.STRUCTURE or node.kind.endswith(("block", "body"))
        if not holder and node.depth > 0:
            chain.append(node)
        if node.kind in _DEFINITIONS:
            break
    return chain[:_ROWS]


def _table(found: Confidence, chain: list[NodeConfidence]) -> str:
    rows = [f"| | {t('confidence')} | {t('least certain')} |", "|:--|--:|:--|"]
    for place, node in enumerate(chain):
        kind = code(node.kind)
        name = f"**{kind}**" if place == 0 else kind
        token = found.least_certain(node)
        least = "" if token is None else f"{_token(found, token)} {_probability(found, token)}"
        confidence = t("unknown") if node.confidence is None else share(node.confidence, translator())
        shown = f"**{confidence}**" if place == 0 else confidence
        rows.append(f"| {name} {node.category} | {shown} | {_cell(least)} |")
    return "\n".join(rows)


def _expected(found: Confidence, node: NodeConfidence) -> str:
    """What the model would rather have written at the least certain token of a node."""
    token = found.least_certain(node)
    if token is None:
        return ""
    alternatives = zip(
        found.scores.alternative_text[token],
        map(math.exp, found.scores.alternative_logprob[token].tolist()),
        strict=False,
    )
    words = expected(alternatives, t=translator())
    if not words:
        return ""
    if found.scores.rank[token] == 0:
        return t("Just what it expected: {words}", words=" · ".join(words))
    return t("It expected: {words}", words=" · ".join(words))


def _note(analysis: Analysis, found: Confidence, model: str) -> str:
    """What the number means, and which it is."""
    known = analysis.calibration
    if known is not None:
        when = t(", measured {day}", day=known.created) if known.created else ""
        return t(
            "*Confidence is calibrated: of nodes like this, {model} predicts about so many right{when}. It "
            "is no measure of correctness.*",
            model=model,
            when=when,
        )
    return t(
        "*Confidence is {mean} for {model}: raw, not calibrated, and no measure of correctness.*",
        mean=_mean(found.aggregation),
        model=model,
    )


def _mean(aggregation: Aggregation) -> str:
    """What stands for the tokens of a node."""
    return {
        Aggregation.MEAN: t("the mean probability of its tokens"),
        Aggregation.MEDIAN: t("the median probability of its tokens"),
        Aggregation.MAXIMUM: t("the probability of its likeliest token"),
        Aggregation.MINIMUM: t("the probability of its least likely token"),
    }[aggregation]


def _probe(analysis: Analysis, offset: int) -> str:
    """The counterfactual effect on the function around a place, if it was probed."""
    function = function_at(analysis.document, offset) if analysis.known else None
    probe = analysis.known_function(function.qualname).probe if function else None
    if function is None or probe is None or not probe.pairs:
        return ""
    changed = summarize(probe.observations).average
    head = t("Counterfactual probe of {function}:", function=f"`{function.name}`")
    if changed.n:
        counts = {"count": changed.count, "n": changed.n}
        head += " " + t("{count} of {n} informative pairs changed the verdict", **counts)
    return "\n".join([head, *(f"- {pair.mutation}: {outcome(pair, translator())}" for pair in probe.pairs)])


def _token(found: Confidence, token: int) -> str:
    data = found.document.data[int(found.scores.start[token]) : int(found.scores.end[token])]
    return code(data.decode("utf-8", "replace"), translator())


def _probability(found: Confidence, token: int) -> str:
    return share(math.exp(float(found.scores.logprob[token])), translator())


def _cell(text: str) -> str:
    """Text in a cell of a table, where a bar would begin the next one."""
    return text.replace("|", "\\|")


def _markdown(text: str, where: types.Range | None = None) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), where)
