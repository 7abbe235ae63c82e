"""AsC-Eval over a corpus as it was published (Palacio et al. 2023, section VI-B, Table I, Figures 3 and 6).

The nodes of a type are pooled over the whole corpus. 500 bootstrap medians of their confidences are drawn;
the figure of the type is the median of these, its standard error their standard deviation. A category is the
mean over its node types, and Global that over all of them: each type counts as much as any other, however
many nodes it has. The draws of a type are those of `numpy.random.default_rng(seed)`: 500 times as many
indices as there are nodes.

Differences from `corpus.py`: there the figure is a median over snippets, categories are pooled over the nodes
of all their types, and whole files are drawn for the interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

import numpy as np

from counterlens.syntax.concepts.sets import ConceptSet

RESAMPLES = 500
THRESHOLD = 0.6
"""Confidence that the paper calls acceptable; lower values are erroneous (section VII-A)."""
GLOBAL = "global"
_CELLS = 1_000_000  # values that are drawn at once, at most


@dataclass(frozen=True, slots=True)
class TypeMedian:
    """A node type, pooled over a corpus.

    Attributes:
        kind: The node type.
        category: Its category.
        value: The median of the bootstrap medians, 0 to 1.
        standard_error: The standard deviation of the bootstrap medians (divisor 500).
        nodes: How many nodes there are.
        snippets: In how many snippets.
    """

    kind: str
    category: str
    value: float
    standard_error: float
    nodes: int
    snippets: int


@dataclass(frozen=True, slots=True)
class CategoryMean:
    """The mean over the node types of a category, or over all.

    Attributes:
        category: Which; `GLOBAL` for all.
        value: The mean of the types' medians.
        standard_error: Figures of that mean: the types' standard deviation over the root of their number;
            None for a single type.
        bootstrap_error: The mean of the types' own standard errors.
        types: How many node types occur.
        of: How many the category has.
    """

    category: str
    value: float
    standard_error: float | None
    bootstrap_error: float
    types: int
    of: int


def bootstrapped_median(
    values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """The median of the bootstrap medians of some values, and the standard deviation of these.

    Args:
        values: One at least.
        seed: Random seed of the draws.
        resamples: How many draws.
    """
    known = np.asarray(values, np.float64)
    random = np.random.default_rng(seed)
    at_once, medians = max(1, _CELLS // len(known)), []
    for done in range(0, resamples, at_once):
        rows = min(at_once, resamples - done)
        medians.append(np.median(known[random.integers(0, len(known), (rows, len(known)))], axis=1))
    drawn = np.concatenate(medians)
    return float(np.median(drawn)), float(np.std(drawn))


def type_medians(
    snippets: Iterable[Mapping[str, Sequence[float]]], concepts: ConceptSet, *, seed: int = 0
) -> list[TypeMedian]:
    """The node types of a concept set that occur in a corpus, in the order of the set.

    Args:
        snippets: The confidences of each snippet's nodes, by node type.
        concepts: Which types count; a set that lists them.
        seed: Random seed of the draws.
    """
    pooled: dict[str, list[float]] = {}
    holding: dict[str, int] = {}
    for snippet in snippets:
        for kind, values in snippet.items():
            if values and kind in (concepts.kinds or {}):
                pooled.setdefault(kind, []).extend(values)
                holding[kind] = holding.get(kind, 0) + 1
    return [
        TypeMedian(
            kind, category, *bootstrapped_median(pooled[kind], seed=seed), len(pooled[kind]), holding[kind]
        )
        for kind, category in (concepts.kinds or {}).items()
        if kind in pooled
    ]


def category_means(types: Sequence[TypeMedian], concepts: ConceptSet) -> list[CategoryMean]:
    """Global, and then the categories that occur, in the order of the set."""
    grouped = {GLOBAL: list(types)} if types else {}
    for category in concepts.categories:
        inside = [one for one in types if one.category == category]
        if inside:
            grouped[category] = inside
    return [
        CategoryMean(
            category,
            mean(one.value for one in inside),
            stdev(one.value for one in inside) / math.sqrt(len(inside)) if len(inside) > 1 else None,
            mean(one.standard_error for one in inside),
            len(inside),
            len(concepts.kinds or {}) if category == GLOBAL else len(concepts.types_of(category)),
        )
        for category, inside in grouped.items()
    ]
