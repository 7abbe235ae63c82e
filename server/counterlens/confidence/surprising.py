"""The few places of a document that surprise the model most, each as the smallest node that explains it.

Weights determine which leaves are surprising (`weights.py`); adjacent surprising leaves are one place, and
the most surprising place of a line represents the line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterlens.confidence.aggregate import Confidence, NodeConfidence
from counterlens.confidence.leaves import Integers, Leaves, leaves
from counterlens.confidence.weights import Weight, excess
from counterlens.syntax.concepts import Category

__all__ = ["PER_HUNDRED_LINES", "Surprise", "allowance", "excess", "surprising"]

PER_HUNDRED_LINES = 3.0
"""Maximum number of marked places per 100 lines: users want few highlights."""

LEAST_BITS = 3.0
"""Minimum surprisal of a surprising leaf, in bits: a probability of 1 in 8."""

LEAST_EXCESS = 2.0
"""Minimum excess of a surprising leaf, in robust standard deviations above the usual."""


@dataclass(frozen=True, slots=True)
class Surprise:
    """One place that surprised the model.

    Attributes:
        start: First byte of the place.
        end: The byte after the place.
        kind: The node type.
        category: Concept category of its most surprising leaf.
        bits: Surprisal of that leaf's least likely token.
        excess: Surprisal beyond the model's own entropy and what is usual for the category, in robust
            standard deviations (`weights.excess`).
        token: Index of that token in the scores.
        alternatives: The model's expectation instead: texts and probabilities, likeliest first.
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
    span: tuple[int, int] | None = None,
) -> tuple[Surprise, ...]:
    """The most surprising places of a document, in the order of the text; they do not overlap.

    Args:
        found: The document's scores on its nodes.
        per_hundred_lines: Maximum number of places per 100 lines; a shorter document gets its share, and at
            least one.
        limit: Maximum number of places, whatever the number of lines.
        least_bits: Minimum surprisal of a token of each leaf.
        least_excess: Minimum weight of each leaf.
        weight: The measure of how surprising a leaf is; by default `excess`.
        span: Only places that begin in this byte range.
    """
    rows = leaves(found)
    weights = (weight or excess)(rows)
    wanted = (rows.bits >= least_bits) & (weights >= least_excess)
    if span is not None:
        start = np.array([found.nodes[i].start for i in rows.node.tolist()], np.int64)
        wanted &= (start >= span[0]) & (start < span[1])
    chosen = np.flatnonzero(wanted)
    budget = limit if limit is not None else allowance(found.document.positions.lines, per_hundred_lines)
    if not len(chosen) or budget <= 0:
        return ()
    relative = excess(rows) if weight else weights
    # Stable: of two with the same weight, the earlier place comes first.
    ranked = chosen[np.argsort(-weights[chosen], kind="stable")]
    places = _explained(found, rows, chosen)
    named: dict[int, Surprise] = {}  # by line
    for row in ranked.tolist():
        node = found.nodes[places[row]]
        line = found.document.positions.line_of(node.start)
        if line not in named and len(named) < budget:
            named[line] = _surprise(found, rows, row, node, float(relative[row]))
    return tuple(sorted(named.values(), key=lambda one: one.start))


def allowance(lines: int, per_hundred_lines: float) -> int:
    """Maximum number of places for a number of lines."""
    return max(1, math.floor(lines * per_hundred_lines / 100)) if per_hundred_lines > 0 else 0


def _explained(found: Confidence, rows: Leaves, chosen: Integers) -> dict[int, int]:
    """For each chosen row: the node to show for it.

    Surprising leaves close together have one cause. If at least half of the leaves of a node on one line, and
    at least two, are surprising, the smallest node around them represents them; else each leaf represents
    itself.
    """
    nodes = found.nodes
    start = np.array([nodes[i].start for i in rows.node.tolist()], np.int64)
    marks = np.zeros(len(rows) + 1, np.int64)
    marks[chosen + 1] = 1
    before = np.cumsum(marks).tolist()  # number of surprising leaves before each row
    firsts = np.searchsorted(start, [node.start for node in nodes]).tolist()
    lasts = np.searchsorted(start, [node.end for node in nodes]).tolist()
    places = {row: int(rows.node[row]) for row in chosen.tolist()}
    around, held = -1, 0  # the node that represents the rows in it, and their number
    for i, node in enumerate(nodes):  # parents come first, so the first match for a place is the largest
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
