"""The aggregation function of paper 001 (section III-C): one confidence per node, and one per concept.

A node's confidence is the mean (or median, maximum, minimum) of the next-token probabilities of its
tokens. A concept's is the mean over its nodes, which is the paper's local aggregation for one snippet.
Tokens without a score, such as the first of a text, are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from counterlens.confidence.alignment import align, nodes
from counterlens.models.base import TokenScores
from counterlens.syntax.concepts import Category, category_of
from counterlens.syntax.document import Document


class Aggregation(StrEnum):
    """How the probabilities of a node's tokens become one number."""

    MEAN = "mean"
    MEDIAN = "median"
    MAXIMUM = "max"
    MINIMUM = "min"


_FUNCTIONS: dict[Aggregation, Callable[[npt.NDArray[np.float64]], np.floating]] = {
    Aggregation.MEAN: np.mean,
    Aggregation.MEDIAN: np.median,
    Aggregation.MAXIMUM: np.max,
    Aggregation.MINIMUM: np.min,
}


@dataclass(frozen=True, slots=True)
class NodeConfidence:
    """How likely the model finds one syntax node.

    Attributes:
        kind: The node type of the grammar, such as `comparison_operator`.
        start: Its first byte.
        end: The byte after its last.
        category: The concept category.
        named: Whether it is a rule of the grammar rather than a keyword or punctuation.
        depth: How many nodes contain it.
        confidence: The aggregate of its tokens' probabilities, 0 to 1; None where none is scored.
        minimum: The probability of its least certain token.
        tokens: First token, and the one after the last.
    """

    kind: str
    start: int
    end: int
    category: Category
    named: bool
    depth: int
    confidence: float | None
    minimum: float | None
    tokens: tuple[int, int]


@dataclass(frozen=True)
class Confidence:
    """A document's token scores on its syntax nodes."""

    document: Document
    scores: TokenScores
    nodes: tuple[NodeConfidence, ...]
    aggregation: Aggregation

    @cached_property
    def concepts(self) -> dict[Category, tuple[float, int]]:
        """For each category that occurs: the mean confidence of its nodes, and how many there are."""
        grouped: dict[Category, list[float]] = {}
        for node in self.nodes:
            if node.named and node.confidence is not None:
                grouped.setdefault(node.category, []).append(node.confidence)
        return {category: (float(np.mean(found)), len(found)) for category, found in sorted(grouped.items())}

    def at(self, offset: int) -> list[NodeConfidence]:
        """The named nodes around a byte, innermost first; a keyword or bracket itself comes first too."""
        around = [node for node in self.nodes if node.start <= offset < node.end]
        return [node for node in reversed(around) if node.named or node is around[-1]]

    def within(self, start: int, end: int) -> float | None:
        """The mean next-token probability of the tokens of a byte range."""
        first, last = align(self.scores, np.array([start]), np.array([end]))
        known = self.scores.probability[first[0] : last[0]]
        known = known[~np.isnan(known)]
        return float(known.mean()) if len(known) else None

    def least_certain(self, node: NodeConfidence) -> int | None:
        """The index of the token of a node that the model found least likely."""
        first, last = node.tokens
        part = self.scores.logprob[first:last]
        if not len(part) or np.isnan(part).all():
            return None
        return first + int(np.nanargmin(part))


def confidence(
    document: Document, scores: TokenScores, aggregation: Aggregation = Aggregation.MEAN
) -> Confidence:
    """Place token scores on the syntax nodes of the document that they are of."""
    found = list(nodes(document.tree))
    start = np.array([node.start_byte for node in found], np.int64)
    end = np.array([node.end_byte for node in found], np.int64)
    first, last = align(scores, start, end)
    probability = scores.probability
    aggregate = _FUNCTIONS[aggregation]
    categories: dict[int, Category] = {}
    depths: dict[int, int] = {}
    placed = []
    for i, node in enumerate(found):
        parent = node.parent.id if node.parent else 0
        inherited = categories.get(parent, Category.STRUCTURE)
        category = category_of(document.language, node.type) or inherited
        categories[node.id], depths[node.id] = category, depths.get(parent, -1) + 1
        known = probability[first[i] : last[i]]
        known = known[~np.isnan(known)]
        placed.append(
            NodeConfidence(
                kind=node.type,
                start=node.start_byte,
                end=node.end_byte,
                category=category,
                named=node.is_named,
                depth=depths[node.id],
                confidence=float(aggregate(known)) if len(known) else None,
                minimum=float(known.min()) if len(known) else None,
                tokens=(int(first[i]), int(last[i])),
            )
        )
    return Confidence(document, scores, tuple(placed), aggregation)
