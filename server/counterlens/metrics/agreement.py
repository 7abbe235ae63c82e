"""The agreement of two sets of edges: precision, recall and F1, over one function and over many.

With tp found and true, fp found and not true, fn true and not found: precision tp / (tp + fp), recall tp /
(tp + fn), F1 2 tp / (2 tp + fp + fn) (Nguyen et al. 2024, section 5.1, RQ4). A figure with the denominator 0
is None: a function without dependences in which none are found has no precision, recall or F1.

Correlations between two figures.

Spearman's rank correlation (Liu et al. 2024, Figures 4 and 7) and Pearson's (Hooda et al. 2024, Figure 4;
Palacio et al. 2023, Table II).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from counterlens.metrics.bootstrap import RESAMPLES, Estimate, Floats, bootstrap, bootstrap_pairs, pooled_mean

Item = TypeVar("Item")
Node = TypeVar("Node", bound=Hashable)
FIGURES: dict[str, Callable[[Agreement], float | None]] = {
    "precision": lambda agreement: agreement.precision,
    "recall": lambda agreement: agreement.recall,
    "f1": lambda agreement: agreement.f1,
}
FEW_POINTS = 10
"""Number of points below which a correlation says little."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts of found and true edges.

    Attributes:
        false_positives: Found, not true.
        false_negatives: True, not found.
    """

    true_positives: int = 0
    false_positives: int = 0
    false_negatives: int = 0

    @classmethod
    def of(cls, predicted: Set[Item], true: Set[Item]) -> Agreement:
        """Compare two sets."""
        return cls(len(predicted & true), len(predicted - true), len(true - predicted))

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(
            self.true_positives + other.true_positives,
            self.false_positives + other.false_positives,
            self.false_negatives + other.false_negatives,
        )

    @property
    def precision(self) -> float | None:
        """The share of found edges that are true."""
        return _ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        """The share of true edges that are found."""
        return _ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        wrong = self.false_positives + self.false_negatives
        return _ratio(2 * self.true_positives, 2 * self.true_positives + wrong)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Agreement over many functions, with 95 % intervals over functions.

    Attributes:
        micro: Precision and recall of the summed counts, which are shares of edges; F1 with a bootstrap
            interval.
        macro: Their means over the functions for which they are defined.
        counts: The summed counts.
    """

    micro: dict[str, Estimate]
    macro: dict[str, Estimate]
    counts: Agreement


def corpus(functions: Sequence[Agreement], *, seed: int = 0, resamples: int = RESAMPLES) -> Corpus:
    """Aggregate many functions.

    Args:
        functions: One agreement per function.
        seed: Random seed of the bootstrap.
        resamples: Number of resamples.
    """

    def pooled_f1(drawn: Sequence[Agreement]) -> float | None:
        return sum(drawn, Agreement()).f1

    micro = {
        "precision": _share([(each.true_positives, each.false_positives) for each in functions]),
        "recall": _share([(each.true_positives, each.false_negatives) for each in functions]),
        "f1": bootstrap(functions, pooled_f1, seed=seed, resamples=resamples),
    }
    macro = {
        name: pooled_mean(
            ((i, value) for i, each in enumerate(functions) if (value := figure(each)) is not None),
            bounds=(0, 1),
        )
        for name, figure in FIGURES.items()
    }
    return Corpus(micro, macro, sum(functions, Agreement()))


def _share(functions: Sequence[tuple[int, int]]) -> Estimate:
    """The share of right edges, given the numbers of right and wrong edges per function."""
    edges = ((i, int(k < right)) for i, (right, wrong) in enumerate(functions) for k in range(right + wrong))
    return pooled_mean(edges, bounds=(0, 1))


def closure(edges: Iterable[tuple[Node, Node]]) -> set[tuple[Node, Node]]:
    """The transitive closure of some edges."""
    after: dict[Node, set[Node]] = {}
    for source, target in edges:
        after.setdefault(source, set()).add(target)
    closed = set()
    for start in after:
        seen: set[Node] = set()
        stack = list(after[start])
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                stack += after.get(node, ())
        closed |= {(start, node) for node in seen}
    return closed


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def few_points(counts: Iterable[int]) -> str:
    """The end of a note on correlations over these numbers of points; empty if all have enough."""
    little = f"; over fewer than {FEW_POINTS} points, a correlation says little"
    return little if any(count < FEW_POINTS for count in counts) else ""


def spearman(pairs: Sequence[tuple[float, float]], *, seed: int = 0) -> Estimate:
    """The correlation of the ranks, with mean ranks for ties, and a percentile interval.

    None if there are fewer than three pairs, or one of the two is constant.
    """
    return bootstrap_pairs(pairs, _rho, seed=seed)


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's correlation alone; None as for `spearman`."""
    return _alone(pairs, _rho)


def pearson(pairs: Sequence[tuple[float, float]], *, seed: int = 0) -> Estimate:
    """The linear correlation, with a percentile interval; None as for `spearman`."""
    return bootstrap_pairs(pairs, _correlations, seed=seed)


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's correlation alone; None if there are fewer than three pairs, or one side is constant."""
    return _alone(pairs, _correlations)


def _alone(pairs: Sequence[tuple[float, float]], figure: Callable[[Floats, Floats], Floats]) -> float | None:
    if not pairs:
        return None
    first, second = np.array(pairs, np.float64).T
    (value,) = figure(first[None], second[None]).tolist()
    return None if math.isnan(value) else value


def _rho(values: Floats, other: Floats) -> Floats:
    return _correlations(_ranks(values), _ranks(other))


def _correlations(values: Floats, other: Floats) -> Floats:
    """(m,) correlations of m samples, each (m, n); NaN for fewer than three values or constant ones."""
    if values.shape[1] < 3:
        return np.full(len(values), np.nan)
    spread = values.std(axis=1) * other.std(axis=1)
    # Constant values may still have a spread from rounding.
    constant = (spread == 0) | _flat(values) | _flat(other)
    centred = (values - values.mean(axis=1, keepdims=True)) * (other - other.mean(axis=1, keepdims=True))
    correlations = centred.mean(axis=1) / np.where(constant, np.nan, spread)
    return np.asarray(np.clip(correlations, -1.0, 1.0), np.float64)


def _flat(values: Floats) -> npt.NDArray[np.bool_]:
    return np.asarray(np.ptp(values, axis=1) < 1e-12 * np.abs(values[:, 0]), np.bool_)


def _ranks(samples: Floats) -> Floats:
    """(m, n) mean ranks in each of m samples, from 1."""
    values, codes = np.unique(samples, return_inverse=True)
    places = codes.reshape(samples.shape) + np.arange(len(samples))[:, None] * len(values)
    counts = np.bincount(places.ravel(), minlength=len(samples) * len(values))
    last = np.cumsum(counts.reshape(len(samples), -1), axis=1).ravel()
    return np.asarray((last - (counts - 1) / 2)[places], np.float64)
