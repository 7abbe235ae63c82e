"""The few places of a document that surprise the model most, each as the smallest node that explains it.

What is surprising is measured against what is usual: names surprise a model more than brackets do. So a leaf
is weighed by how far its surprisal lies above the median of its concept category in this document, in robust
standard deviations. Categories that are rare here lean on the whole document, and a short document leans on
what is usual anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterlens.confidence.aggregate import Confidence, NodeConfidence
from counterlens.confidence.leaves import Floats, Integers, Leaves, leaves
from counterlens.syntax.concepts import Category

PER_HUNDRED_LINES = 3.0
"""How many spans to show in 100 lines, at most: people want highlights that are few."""

LEAST_BITS = 3.0
"""What is more likely than 1 in 8 is never called surprising."""

LEAST_EXCESS = 2.0
"""Robust standard deviations above the usual that a surprising leaf has, at least."""

_LEAN = 8.0
"""As many leaves does the wider prior count for."""

_TO_DEVIATION = 1.4826
"""Median absolute deviation to standard deviation, for a normal distribution."""

_USUAL_BITS, _USUAL_SPREAD = 1.0, 2.0
"""What is usual anywhere: bits of a leaf's least likely token, and its deviation."""

_LEAST_SPREAD = 1.0
"""Bits; where a category is all but certain, a small surprise is still a small one."""

Weight = Callable[[Leaves], Floats]
"""How surprising each of m leaves is: (m,) numbers, larger for more surprising."""


@dataclass(frozen=True, slots=True)
class Surprise:
    """One place that surprised the model.

    Attributes:
        start: Its first byte.
        end: The byte after its last.
        kind: The node type.
        category: The concept category of the leaf in it that surprised most.
        bits: The surprisal of that leaf's least likely token.
        excess: How far that is above the usual for the category, in robust standard deviations.
        token: The index of that token in the scores.
        alternatives: What the model expected in its place: texts and probabilities, likeliest first.
    """

    start: int
    end: int
    kind: str
    category: Category
    bits: float
    excess: float
    token: int
    alternatives: tuple[tuple[str, float], ...]


def surprising(
    found: Confidence,
    *,
    per_hundred_lines: float = PER_HUNDRED_LINES,
    limit: int | None = None,
    least_bits: float = LEAST_BITS,
    least_excess: float = LEAST_EXCESS,
    weight: Weight | None = None,
) -> tuple[Surprise, ...]:
    """The most surprising places of a document, in the order of the text; they do not overlap.

    Args:
        found: The document's scores on its nodes.
        per_hundred_lines: How many places to name in 100 lines, at most; a document of fewer lines gets its
            share, and one at least.
        limit: How many to name at most, whatever the number of lines.
        least_bits: Only leaves with a token of at least so much surprisal.
        least_excess: Only leaves that weigh at least so much.
        weight: How surprising a leaf is; by default `excess`.
    """
    rows = leaves(found)
    weights = (weight or excess)(rows)
    chosen = np.flatnonzero((rows.bits >= least_bits) & (weights >= least_excess))
    budget = limit if limit is not None else allowance(found.document.positions.lines, per_hundred_lines)
    if not len(chosen) or budget <= 0:
        return ()
    relative = excess(rows) if weight else weights
    # Stable, and the earlier place first where two weigh the same.
    ranked = chosen[np.argsort(-weights[chosen], kind="stable")]
    places = _explained(found, rows, chosen)
    named: dict[int, Surprise] = {}
    for row in ranked.tolist():
        if places[row] not in named and len(named) < budget:
            named[places[row]] = _surprise(found, rows, row, found.nodes[places[row]], float(relative[row]))
    return tuple(sorted(named.values(), key=lambda one: one.start))


def allowance(lines: int, per_hundred_lines: float) -> int:
    """How many places may be named in so many lines."""
    return max(1, math.floor(lines * per_hundred_lines / 100)) if per_hundred_lines > 0 else 0


def excess(rows: Leaves) -> Floats:
    """How far each leaf's surprisal lies above the usual for its category, in robust standard deviations."""
    return _above_usual(rows.bits, rows.category)


def _above_usual(bits: Floats, category: Integers) -> Floats:
    """Robust z-scores within each category, which leans on the document, which leans on a constant."""
    middle, spread = _usual(bits, _USUAL_BITS, _USUAL_SPREAD)
    result = np.empty(len(bits))
    for one in np.unique(category).tolist():
        mine = category == one
        usual, deviation = _usual(bits[mine], middle, spread)
        result[mine] = (bits[mine] - usual) / max(deviation, _LEAST_SPREAD)
    return result


def _usual(bits: Floats, prior: float, prior_spread: float) -> tuple[float, float]:
    """Median and robust deviation, drawn towards a prior as far as the values are few."""
    if not len(bits):
        return prior, prior_spread
    middle = float(np.median(bits))
    spread = _TO_DEVIATION * float(np.median(np.abs(bits - middle)))
    share = len(bits) / (len(bits) + _LEAN)
    return share * middle + (1 - share) * prior, share * spread + (1 - share) * prior_spread


def _explained(found: Confidence, rows: Leaves, chosen: Integers) -> dict[int, int]:
    """For each chosen row: the node to show for it.

    Surprising leaves close together have one cause. Where at least half of the leaves of a node on one line
    are surprising, two or more, the smallest node around all of these stands for them; else a leaf stands
    for itself.
    """
    nodes = found.nodes
    start = np.array([nodes[i].start for i in rows.node.tolist()], np.int64)
    marks = np.zeros(len(rows) + 1, np.int64)
    marks[chosen + 1] = 1
    before = np.cumsum(marks).tolist()  # how many are surprising before each row
    firsts = np.searchsorted(start, [node.start for node in nodes]).tolist()
    lasts = np.searchsorted(start, [node.end for node in nodes]).tolist()
    places = {row: int(rows.node[row]) for row in chosen.tolist()}
    around, held = -1, 0  # the node that stands for the rows in it, and how many those are
    for i, node in enumerate(nodes):  # parents come first, so the first that explains a place is the largest
        first, last = firsts[i], lasts[i]
        surprised = before[last] - before[first]
        if around >= 0 and node.end <= nodes[around].end:
            if surprised < held:
                continue  # a part of them
        elif surprised < 2 or 2 * surprised < last - first or not _on_one_line(found, node):
            continue
        around, held = i, surprised  # a smaller node with all of them explains them better
        places |= {row: i for row in range(first, last) if row in places}
    return places


def _on_one_line(found: Confidence, node: NodeConfidence) -> bool:
    lines = found.document.positions
    return lines.line_of(node.start) == lines.line_of(max(node.start, node.end - 1))


def _surprise(found: Confidence, rows: Leaves, row: int, node: NodeConfidence, above: float) -> Surprise:
    token = int(rows.token[row])
    scores = found.scores
    expected = zip(
        scores.alternative_text[token], np.exp(scores.alternative_logprob[token]).tolist(), strict=False
    )
    return Surprise(
        start=node.start,
        end=node.end,
        kind=node.kind,
        category=found.nodes[int(rows.node[row])].category,
        bits=float(rows.bits[row]),
        excess=above,
        token=token,
        alternatives=tuple(expected),
    )
