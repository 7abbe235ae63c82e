"""AsC-Eval over a corpus as published (Palacio et al. 2023, section VI-B, Table I, Figures 3 and 6).

The nodes of a type are pooled over the whole corpus. 500 bootstrap medians of their confidences are computed;
the figure of the type is their median, and its standard error their standard deviation. A category is the
mean over its node types, and Global the mean over all types: each type has the same weight, whatever its
number of nodes. The resamples of a type come from `numpy.random.default_rng(seed)`: 500 times as many indices
as there are nodes.

Differences from `confidence/corpus.py`: there the figure is a median over snippets, categories are pooled
over the nodes of all their types, and whole files are resampled for the interval.
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
"""The lowest confidence that the paper calls acceptable; lower values are erroneous (section VII-A)."""
GLOBAL = "global"
_CELLS = 1_000_000  # maximum number of values resampled at once


@dataclass(frozen=True, slots=True)
class TypeMedian:
    """A node type, pooled over a corpus.

    Attributes:
        value: The median of the bootstrap medians, 0 to 1.
        standard_error: The standard deviation of the bootstrap medians (divisor 500).
        nodes: Number of nodes.
        snippets: Number of snippets with such nodes.
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
        category: The category; `GLOBAL` for all.
        value: The mean of the types' medians.
        standard_error: Standard error of that mean: the types' standard deviation over the square root of
            their number; None for a single type.
        bootstrap_error: The mean of the types' own standard errors.
        types: Number of node types that occur.
        of: Number of node types of the category.
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
        values: The values, at least one.
        seed: Random seed of the resamples.
        resamples: Number of resamples.
    """
    array = np.asarray(values, np.float64)
    random = np.random.default_rng(seed)
    at_once, medians = max(1, _CELLS // len(array)), []
    for done in range(0, resamples, at_once):
        rows = min(at_once, resamples - done)
        medians.append(np.median(array[random.integers(0, len(array), (rows, len(array)))], axis=1))
    drawn = np.concatenate(medians)
    return float(np.median(drawn)), float(np.std(drawn))


def type_medians(
    snippets: Iterable[Mapping[str, Sequence[float]]], concepts: ConceptSet, *, seed: int = 0
) -> list[TypeMedian]:
    """The node types of a concept set that occur in a corpus, in the order of the set.

    Args:
        snippets: The confidences of each snippet's nodes, by node type.
        concepts: The node types to include; a set that lists them.
        seed: Random seed of the resamples.
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
        inside = [median for median in types if median.category == category]
        if inside:
            grouped[category] = inside
    return [
        CategoryMean(
            category,
            mean(median.value for median in inside),
            stdev(median.value for median in inside) / math.sqrt(len(inside)) if len(inside) > 1 else None,
            mean(median.standard_error for median in inside),
            len(inside),
            len(concepts.kinds or {}) if category == GLOBAL else len(concepts.types_of(category)),
        )
        for category, inside in grouped.items()
    ]
