"""Aggregation (Palacio et al. 2023, section III-C): one confidence per node, and one per concept.

A node's confidence is the mean (or median, maximum, minimum) of the next-token probabilities of its
tokens. A concept's is the mean over its nodes, which is the paper's local aggregation for one snippet;
`corpus.py` has the global one. Tokens without a score, such as the first of a text, are ignored.

Surprisal is in bits per byte. A token's surprisal, the negative binary logarithm of its probability, is
spread evenly over its non-blank bytes (over all its bytes, if all are blank). So the bits of a range are a
sum over its bytes: those of a node's parts add up to the node's, a token that spans two nodes is shared
between them and counted once, and bits per byte mean the same for every tokenizer.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from counterlens.confidence.alignment import Rule, align, blank, with_parents
from counterlens.models.base import TokenScores
from counterlens.syntax.concepts import Category, category_of
from counterlens.syntax.concepts.sets import COUNTERLENS, ConceptSet
from counterlens.syntax.document import Document

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class Aggregation(StrEnum):
    """The way to aggregate a node's token probabilities."""

    MEAN = "mean"
    MEDIAN = "median"
    MAXIMUM = "max"
    MINIMUM = "min"


@dataclass(frozen=True, slots=True)
class NodeConfidence:
    """The confidence in one syntax node.

    Attributes:
        kind: The node type of the grammar, such as `comparison_operator`.
        start: First byte of the node.
        end: The byte after the node.
        category: The concept category.
        named: Whether it is a rule of the grammar rather than a keyword or punctuation.
        depth: Number of nodes that contain it.
        confidence: The aggregate of its tokens' probabilities, 0 to 1; None if none is scored.
        minimum: The probability of its least certain token.
        tokens: Index of the first token, and index after the last.
        parent: Index of its parent in `Confidence.nodes`; -1 for the root.
        bits: Its surprisal in bits; None if no token of it is scored.
        bits_per_byte: The same, divided by the number of its bytes.
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
    parent: int = -1
    bits: float | None = None
    bits_per_byte: float | None = None


@dataclass(frozen=True)
class Confidence:
    """A document's token scores, aggregated per syntax node.

    Attributes:
        document: The scored text.
        nodes: All its nodes, parents before children, in the order of the text.
        aggregation: The aggregation of token probabilities.
        rule: The rule that assigns tokens to nodes.
        concept_set: The mapping from nodes to concepts.
    """

    document: Document
    scores: TokenScores
    nodes: tuple[NodeConfidence, ...]
    aggregation: Aggregation
    rule: Rule = Rule.OVERLAP
    concept_set: ConceptSet = COUNTERLENS

    def concept_of(self, node: NodeConfidence) -> str | None:
        """The concept of a node; None if it has none."""
        return self.concept_set.concept(node.kind, node.category, named=node.named)

    @cached_property
    def concepts(self) -> dict[str, tuple[float, int]]:
        """For each concept that occurs: the mean confidence of its nodes, and their number."""
        return self.concepts_in(0, len(self.document.data))

    def concepts_in(self, start: int, end: int) -> dict[str, tuple[float, int]]:
        """The same for the nodes between two bytes."""
        grouped: dict[str, list[float]] = {}
        for node in self.nodes:
            concept = self.concept_of(node)
            if concept and node.confidence is not None and start <= node.start and node.end <= end:
                grouped.setdefault(concept, []).append(node.confidence)
        return {
            category: (float(np.mean(confidences)), len(confidences))
            for category, confidences in sorted(grouped.items())
        }

    @cached_property
    def parents(self) -> frozenset[int]:
        """The indices of the nodes that have children: the non-terminals."""
        return frozenset(node.parent for node in self.nodes if node.parent >= 0)

    @cached_property
    def bits_per_byte(self) -> float | None:
        """The surprisal of the whole document in bits per byte; None if nothing is scored."""
        return self.bits_per_byte_in(0, len(self.document.data))

    def bits_per_byte_in(self, start: int, end: int) -> float | None:
        """The same for the text between two bytes."""
        bits, scored = Surprisal(self.scores).bits(np.array([start]), np.array([end]))
        return float(bits[0] / scored[0]) if scored[0] else None

    def at(self, offset: int) -> list[NodeConfidence]:
        """The named nodes around a byte, innermost first; a keyword or bracket there comes before them."""
        low = bisect.bisect_right(self._starts, offset)
        around = [node for node in self.nodes[:low] if node.end > offset]
        return [node for node in reversed(around) if node.named or node is around[-1]]

    def within(self, start: int, end: int) -> float | None:
        """The aggregate of the next-token probabilities of the tokens of a byte range."""
        first, last = align(self.scores, np.array([start]), np.array([end]), self.rule)
        value = aggregate(self.scores.probability, first, last, self.aggregation)[0]
        return None if np.isnan(value) else float(value)

    def least_certain(self, node: NodeConfidence) -> int | None:
        """The index of the token of a node with the lowest probability."""
        first, last = node.tokens
        part = self.scores.logprob[first:last]
        if not len(part) or np.isnan(part).all():
            return None
        return first + int(np.nanargmin(part))

    @cached_property
    def _starts(self) -> list[int]:
        return [node.start for node in self.nodes]


def confidence(
    document: Document,
    scores: TokenScores,
    aggregation: Aggregation = Aggregation.MEAN,
    rule: Rule = Rule.OVERLAP,
    concept_set: ConceptSet = COUNTERLENS,
    within: Sequence[tuple[int, int]] | None = None,
) -> Confidence:
    """Aggregate token scores per syntax node of their document.

    Args:
        document: The scored text.
        aggregation: The aggregation of a node's token probabilities.
        rule: How tokens that span two nodes are assigned.
        concept_set: The mapping from nodes to concepts.
        within: Byte ranges in the order of the text; only nodes that touch one of these are included. Use it
            if the rest has no scores yet.
    """
    nodes = list(with_parents(document.tree, within))
    start = np.array([node.start_byte for node, _ in nodes], np.int64)
    end = np.array([node.end_byte for node, _ in nodes], np.int64)
    first, last = align(scores, start, end, rule)
    value = aggregate(scores.probability, first, last, aggregation)
    minimum = aggregate(scores.probability, first, last, Aggregation.MINIMUM)
    bits, scored = Surprisal(scores).bits(start, end)
    placed: list[NodeConfidence] = []
    for i, (node, parent) in enumerate(nodes):
        above = placed[parent] if parent >= 0 else None
        inherited = above.category if above else Category.STRUCTURE
        placed.append(
            NodeConfidence(
                kind=node.type,
                start=int(start[i]),
                end=int(end[i]),
                category=category_of(document.language, node.type) if node.is_named else inherited,
                named=node.is_named,
                depth=above.depth + 1 if above else 0,
                confidence=_known_or_none(value[i]),
                minimum=_known_or_none(minimum[i]),
                tokens=(int(first[i]), int(last[i])),
                parent=parent,
                bits=float(bits[i]) if scored[i] else None,
                bits_per_byte=float(bits[i] / scored[i]) if scored[i] else None,
            )
        )
    return Confidence(document, scores, tuple(placed), aggregation, rule, concept_set)


def aggregate(probability: Floats, first: Indices, last: Indices, how: Aggregation) -> Floats:
    """One number for each of m ranges of tokens.

    Args:
        probability: (n,) probability of each token, NaN if not scored.
        first: (m,) index of the first token of each range.
        last: (m,) index after the last.

    Returns:
        (m,) float64; NaN for a range without a scored token.
    """
    unknown = np.isnan(probability)
    counts = np.concatenate([[0], np.cumsum(~unknown)])
    n = counts[last] - counts[first]
    if how is Aggregation.MEDIAN:
        result = np.array([_median(probability[a:b]) for a, b in zip(first, last, strict=True)], np.float64)
    elif how is Aggregation.MEAN:
        sums = np.concatenate([[0.0], np.cumsum(np.where(unknown, 0.0, probability))])
        result = np.clip((sums[last] - sums[first]) / np.maximum(n, 1), 0.0, 1.0)
    else:
        reduce, worst = (np.minimum, np.inf) if how is Aggregation.MINIMUM else (np.maximum, -np.inf)
        padded = np.append(np.where(unknown, worst, probability), worst)
        result = reduce.reduceat(padded, np.stack([first, last], axis=1).ravel())[::2]
    return np.where(n > 0, result, np.nan)


def _median(run: Floats) -> float:
    scored = run[~np.isnan(run)]
    return float(np.median(scored)) if len(scored) else float("nan")


def _known_or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


class Surprisal:
    """The surprisal of every byte range of a scored text."""

    def __init__(self, scores: TokenScores) -> None:
        data = scores.text.encode("utf-8", "surrogatepass")
        at = np.arange(len(data))
        token = np.searchsorted(scores.end, at, side="right")
        held = token < len(scores)
        token = np.minimum(token, max(len(scores) - 1, 0))
        if len(scores):
            held &= (scores.start[token] <= at) & ~np.isnan(scores.logprob[token])
        solid = held & ~blank(data)
        n = max(len(scores), 1)
        solids, bytes_ = np.bincount(token[solid], minlength=n), np.bincount(token[held], minlength=n)
        bits = np.nan_to_num(scores.logprob / -math.log(2)) if len(scores) else np.zeros(1)
        each = bits / np.maximum(np.where(solids > 0, solids, bytes_), 1)
        bearing = solid | (held & (solids[token] == 0))
        self._bits = np.concatenate([[0.0], np.cumsum(np.where(bearing, each[token], 0.0))])
        self._scored = np.concatenate([[0], np.cumsum(held)])

    def bits(
        self, start: npt.NDArray[np.int64], end: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """The bits of m byte ranges, and the number of their scored bytes.

        Args:
            start: (m,) first bytes.
            end: (m,) bytes after the last.

        Returns:
            (m,) float64 bits, not negative; (m,) int64 number of bytes in scored tokens.
        """
        return np.maximum(self._bits[end] - self._bits[start], 0.0), self._scored[end] - self._scored[start]
