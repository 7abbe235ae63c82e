"""The model's confidence in the nodes around a place, innermost first, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterlens.confidence import Aggregation, Confidence, NodeConfidence
from counterlens.confidence.calibration import Calibration
from counterlens.reports.expected import code, expected_texts, whole_alternatives
from counterlens.reports.render.markdown import escape, table
from counterlens.reports.wording import share
from counterlens.syntax.concepts import Category
from counterlens.translating import ENGLISH, Translator

_ROWS = 5
_DEFINITIONS = frozenset(
    f"{what}_{how}"
    for what in ("function", "method", "constructor", "class")
    for how in ("definition", "declaration")
)
"""Node types at which the chain ends: nodes around them show nothing about the place."""


def chain_at(confidence: Confidence, offset: int) -> list[NodeConfidence]:
    """The nodes around a byte up to its function or class, without those that only group others."""
    around = confidence.at(offset)
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


def node_markdown(node: NodeConfidence, t: Translator = ENGLISH) -> str:
    """The confidence of one node, in a line."""
    confidence = t("unknown") if node.confidence is None else share(node.confidence, t)
    return t(
        "{kind} {category}: confidence **{confidence}**",
        kind=f"**{code(node.kind)}**",
        category=node.category,
        confidence=confidence,
    )


def chain_markdown(scored: Confidence, chain: Sequence[NodeConfidence], t: Translator = ENGLISH) -> str:
    """A chain as a table: the confidence of each node, and its least certain token."""
    rows = []
    for place, node in enumerate(chain):
        kind = code(node.kind)
        name = f"**{kind}**" if place == 0 else kind
        token = scored.least_certain(node)
        least = (
            ""
            if token is None
            else f"{_token(scored, token, t)} {share(math.exp(float(scored.scores.logprob[token])), t)}"
        )
        confidence = t("unknown") if node.confidence is None else share(node.confidence, t)
        shown = f"**{confidence}**" if place == 0 else confidence
        rows.append((f"{name} {node.category}", shown, least))
    return table(("", t("confidence"), t("least certain")), rows, {1})


def expected_markdown(confidence: Confidence, node: NodeConfidence, t: Translator = ENGLISH) -> str:
    """Describe the model's preference at the least certain token of a node."""
    token = confidence.least_certain(node)
    if token is None:
        return ""
    words = expected_texts(whole_alternatives(confidence, token), t=t)
    if not words:
        return ""
    if confidence.scores.rank[token] == 0:
        return t("As expected: {words}", words=" · ".join(words))
    return t("It expected: {words}", words=" · ".join(words))


def confidence_note(
    confidence: Confidence, calibration: Calibration | None, model: str, t: Translator = ENGLISH
) -> str:
    """Explain the number: its meaning, and whether it is calibrated."""
    if calibration is not None:
        when = t(", measured {day}", day=calibration.created) if calibration.created else ""
        return t(
            "*Calibrated confidence: {model} predicts about this share of such nodes correctly{when}. It "
            "does not measure correctness.*",
            model=escape(model),
            when=when,
        )
    return t(
        "*Raw confidence: {mean} for {model}. It is not calibrated and does not measure correctness.*",
        mean=_mean(confidence.aggregation, t),
        model=escape(model),
    )


def _mean(aggregation: Aggregation, t: Translator) -> str:
    """Name the statistic of a node's tokens."""
    return {
        Aggregation.MEAN: t("the mean probability of its tokens"),
        Aggregation.MEDIAN: t("the median probability of its tokens"),
        Aggregation.MAXIMUM: t("the probability of its likeliest token"),
        Aggregation.MINIMUM: t("the probability of its least likely token"),
    }[aggregation]


def _token(confidence: Confidence, token: int, t: Translator) -> str:
    data = confidence.document.data[int(confidence.scores.start[token]) : int(confidence.scores.end[token])]
    return code(data.decode("utf-8", "replace"), t)
