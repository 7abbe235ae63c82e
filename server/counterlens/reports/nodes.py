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
from counterlens.translating import ENGLISH, Translator


def doubt_markdown(
    doubt: Doubt, tokens: Sequence[TokenPreference], model: str, t: Translator = ENGLISH
) -> str:
    """The gain in likelihood with the alternative, token by token.

    Args:
        tokens: From `explained`.
        t: The reader's language.
    """
    factor = t.number(sum(token.gain for token in tokens), "+.1f")
    parts = [
        f"# {doubt_sentence(doubt, t)}",
        t(
            "{model} finds the code from here on more likely by {gain} nats with the alternative. This is "
            "its preference, not a proof.",
            model=model,
            gain=factor,
        ),
        table(
            (t("token"), t("as it stands"), t("with the alternative"), t("gain")),
            [
                (
                    code(token.text),
                    _nats(token.stands, t),
                    _nats(token.changed, t),
                    t.number(token.gain, "+.1f"),
                )
                for token in tokens
            ],
            {1, 2, 3},
        ),
        t("*Log-probabilities in nats. The tokens before the first difference are the same in both.*"),
    ]
    if doubt.failed is not None:
        parts += [
            t("The deciding test:"),
            "\n".join(f"    {line}" for line in doubt.failed.text.splitlines()),
        ]
    return "\n\n".join(parts) + "\n"


def _nats(value: float | None, t: Translator) -> str:
    return "" if value is None else t.number(value, ".1f")


_LONGEST = 40


def belief_brief(belief: Belief, model: str, t: Translator = ENGLISH) -> str:
    """Name the operator that the model finds likeliest, with its share and that of the existing one."""
    distribution = belief.distribution
    values = {
        "code": code(shorten(distribution.site.text, _LONGEST)),
        "model": escape(model),
        "operator": code(distribution.predicted),
    }
    if distribution.correct:
        sentence = t("Which operator fits {code}? {model} finds the code most likely as it is.", **values)
    elif belief.preferred is not None:
        sentence = t(
            "Which operator fits {code}? {model} finds the code most likely with {operator} instead.",
            **values,
        )
    else:
        sentence = t(
            "Which operator fits {code}? {model} finds the code most likely with {operator} instead, but "
            "the lead is within rounding error.",
            **values,
        )
    shares = [f"{code(distribution.predicted)} {share(belief.share, t)}"]
    if not distribution.correct:
        shares.append(f"{code(distribution.site.operator)} {share(distribution.expected, t)}")
    return f"{sentence} {' · '.join(shares)}"


def belief_table(belief: Belief, t: Translator = ENGLISH) -> str:
    """All candidates with their shares, likeliest first; the existing one is marked."""
    distribution = belief.distribution
    ranked = sorted(
        zip(distribution.site.candidates, distribution.probability.tolist(), strict=True),
        key=lambda entry: -entry[1],
    )
    rows = []
    for name, probability in ranked:
        stands, written = name == distribution.site.operator, share(probability, t)
        shown = t("**{operator}** (current)", operator=code(name)) if stands else code(name)
        rows.append((shown, f"**{written}**" if stands else written))
    return "\n\n".join(
        [
            table((t("operator"), t("share")), rows, {1}),
            t(
                "*Share: each operator's part of the total probability of the code from this line to the "
                "end of the function.*"
            ),
        ]
    )


def belief_sentence(belief: Belief, model: str, t: Translator = ENGLISH) -> str:
    """Why an operator is marked, for a message of plain text."""
    distribution = belief.distribution
    return t(
        "Did you mean {other} in {code}? {model} finds the code more likely with {other} ({likelier}) than "
        "with {operator} ({likely}). This is the model's preference, not a proof.",
        other=f"`{distribution.predicted}`",
        code=f"`{shorten(distribution.site.text, _LONGEST)}`",
        model=model,
        likelier=share(belief.share, t),
        operator=f"`{distribution.site.operator}`",
        likely=share(distribution.expected, t),
    )


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
        least = "" if token is None else f"{_token(scored, token, t)} {_probability(scored, token, t)}"
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


def confidence_note(confidence: Confidence, model: str, t: Translator = ENGLISH) -> str:
    """Explain the number: its meaning."""
    return t(
        "*Raw confidence: {mean} for {model}, not calibrated.*",
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


def _probability(confidence: Confidence, token: int, t: Translator) -> str:
    return share(math.exp(float(confidence.scores.logprob[token])), t)


def _token(confidence: Confidence, token: int, t: Translator) -> str:
    data = confidence.document.data[int(confidence.scores.start[token]) : int(confidence.scores.end[token])]
    return code(data.decode("utf-8", "replace"), t)
