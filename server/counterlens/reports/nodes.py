"""Nodes around a place, beliefs about operators, and doubts, as Markdown for editors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterlens.confidence import Aggregation, Confidence, NodeConfidence
from counterlens.doubt.explaining import TokenPreference
from counterlens.doubt.marking import Doubt
from counterlens.probes.operator.belief import Belief
from counterlens.reports.expected import code, expected_texts, whole_alternatives
from counterlens.reports.export.doubts import doubt_sentence
from counterlens.reports.render.markdown import escape, table
from counterlens.reports.wording import share, shorten
from counterlens.syntax.concepts import Category

_LONGEST = 40
_ROWS = 5
_DEFINITIONS = frozenset(
    f"{what}_{how}"
    for what in ("function", "method", "constructor", "class")
    for how in ("definition", "declaration")
)
"""Node types at which the chain ends: nodes around them show nothing about the place."""


def doubt_markdown(doubt: Doubt, tokens: Sequence[TokenPreference], model: str) -> str:
    """The gain in likelihood with the alternative, token by token.

    Args:
        tokens: From `explained`.
        t: The reader's language.
    """
    factor = f"{sum(token.gain for token in tokens):+.1f}"
    parts = [
        f"# {doubt_sentence(doubt)}",
        (
            f"{model} finds the code from here on more likely by {factor} nats with the alternative. This is "
            "its preference, not a proof."
        ),
        table(
            ("token", "as it stands", "with the alternative", "gain"),
            [
                (
                    code(token.text),
                    _nats(token.stands),
                    _nats(token.changed),
                    f"{token.gain:+.1f}",
                )
                for token in tokens
            ],
            {1, 2, 3},
        ),
        "*Log-probabilities in nats. The tokens before the first difference are the same in both.*",
    ]
    if doubt.failed is not None:
        parts += [
            "The deciding test:",
            "\n".join(f"    {line}" for line in doubt.failed.text.splitlines()),
        ]
    return "\n\n".join(parts) + "\n"


def _nats(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def belief_brief(belief: Belief, model: str) -> str:
    """Name the operator that the model finds likeliest, with its share and that of the existing one."""
    distribution = belief.distribution
    best = "as it is"
    if not distribution.correct:
        best = f"with {code(distribution.predicted)} instead"
        best += "" if belief.preferred is not None else ", but the lead is within rounding error"
    text = code(shorten(distribution.site.text, _LONGEST))
    sentence = f"Which operator fits {text}? {escape(model)} finds the code most likely {best}."
    shares = [f"{code(distribution.predicted)} {share(belief.share)}"]
    if not distribution.correct:
        shares.append(f"{code(distribution.site.operator)} {share(distribution.expected)}")
    return f"{sentence} {' · '.join(shares)}"


def belief_table(belief: Belief) -> str:
    """All candidates with their shares, likeliest first; the existing one is marked."""
    distribution = belief.distribution
    ranked = sorted(
        zip(distribution.site.candidates, distribution.probability.tolist(), strict=True),
        key=lambda entry: -entry[1],
    )
    rows = []
    for name, probability in ranked:
        stands, written = name == distribution.site.operator, share(probability)
        shown = f"**{code(name)}** (current)" if stands else code(name)
        rows.append((shown, f"**{written}**" if stands else written))
    return "\n\n".join(
        [
            table(("operator", "share"), rows, {1}),
            (
                "*Share: each operator's part of the total probability of the code from this line to the "
                "end of the function.*"
            ),
        ]
    )


def belief_sentence(belief: Belief, model: str) -> str:
    """Why an operator is marked, for a message of plain text."""
    distribution = belief.distribution
    return (
        f"Did you mean `{distribution.predicted}` in `{shorten(distribution.site.text, _LONGEST)}`? {model} "
        f"finds the code more likely with `{distribution.predicted}` ({share(belief.share)}) than with "
        f"`{distribution.site.operator}` ({share(distribution.expected)}). This is the model's preference, "
        "not a proof."
    )


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


def node_markdown(node: NodeConfidence) -> str:
    """The confidence of one node, in a line."""
    confidence = "unknown" if node.confidence is None else share(node.confidence)
    return f"{f'**{code(node.kind)}**'} {node.category}: confidence **{confidence}**"


def chain_markdown(scored: Confidence, chain: Sequence[NodeConfidence]) -> str:
    """A chain as a table: the confidence of each node, and its least certain token."""
    rows = []
    for place, node in enumerate(chain):
        kind = code(node.kind)
        name = f"**{kind}**" if place == 0 else kind
        token = scored.least_certain(node)
        least = "" if token is None else f"{_token(scored, token)} {_probability(scored, token)}"
        confidence = "unknown" if node.confidence is None else share(node.confidence)
        shown = f"**{confidence}**" if place == 0 else confidence
        rows.append((f"{name} {node.category}", shown, least))
    return table(("", "confidence", "least certain"), rows, {1})


def expected_markdown(confidence: Confidence, node: NodeConfidence) -> str:
    """Describe the model's preference at the least certain token of a node."""
    token = confidence.least_certain(node)
    if token is None:
        return ""
    words = expected_texts(whole_alternatives(confidence, token))
    if not words:
        return ""
    if confidence.scores.rank[token] == 0:
        return f"As expected: {' · '.join(words)}"
    return f"It expected: {' · '.join(words)}"


def confidence_note(confidence: Confidence, model: str) -> str:
    """Explain the number: its meaning."""
    return f"*Raw confidence: {_mean(confidence.aggregation)} for {escape(model)}, not calibrated.*"


def _mean(aggregation: Aggregation) -> str:
    """Name the statistic of a node's tokens."""
    return {
        Aggregation.MEAN: "the mean probability of its tokens",
        Aggregation.MEDIAN: "the median probability of its tokens",
        Aggregation.MAXIMUM: "the probability of its likeliest token",
        Aggregation.MINIMUM: "the probability of its least likely token",
    }[aggregation]


def _probability(confidence: Confidence, token: int) -> str:
    return share(math.exp(float(confidence.scores.logprob[token])))


def _token(confidence: Confidence, token: int) -> str:
    data = confidence.document.data[int(confidence.scores.start[token]) : int(confidence.scores.end[token])]
    return code(data.decode("utf-8", "replace"))
