"""How far two sets of edges agree: precision, recall and F1, over one function and over many.

With tp found and true, fp found and not true, fn true and not found: precision tp / (tp + fp), recall
tp / (tp + fn), F1 2 tp / (2 tp + fp + fn) (paper 004, section 5.1, RQ4). Where a denominator is 0 the figure
is None: a function without dependences in which none are found has no precision, no recall and no F1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts of found against true edges.

    Attributes:
        true_positives: Found and true.
        false_positives: Found, not true.
        false_negatives: True, not found.
    """

    true_positives: int = 0
    false_positives: int = 0
    false_negatives: int = 0

    @classmethod
    def of(cls, found: Set[Item], true: Set[Item]) -> Agreement:
        """Compare two sets."""
        return cls(len(found & true), len(found - true), len(true - found))

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(
            self.true_positives + other.true_positives,
            self.false_positives + other.false_positives,
            self.false_negatives + other.false_negatives,
        )

    @property
    def precision(self) -> float | None:
        """The share of the found that is true."""
        return _ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        """The share of the true that is found."""
        return _ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        wrong = self.false_positives + self.false_negatives
        return _ratio(2 * self.true_positives, 2 * self.true_positives + wrong)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure over n functions with its interval; all None where it is undefined."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Corpus:
    """Agreement over many functions, with 95 % bootstrap intervals (functions are resampled).

    Attributes:
        micro: Precision, recall and F1 of the summed counts.
        macro: Their means over the functions where they are defined.
        counts: The summed counts.
    """

    micro: dict[str, Estimate]
    macro: dict[str, Estimate]
    counts: Agreement


FIGURES: dict[str, Callable[[Agreement], float | None]] = {
    "precision": lambda one: one.precision,
    "recall": lambda one: one.recall,
    "f1": lambda one: one.f1,
}


def corpus(functions: Sequence[Agreement], *, seed: int = 0, resamples: int = RESAMPLES) -> Corpus:
    """Sum up many functions.

    Args:
        functions: One agreement each.
        seed: Of the bootstrap.
        resamples: How many times the functions are drawn anew.
    """
    total = sum(functions, Agreement())
    micro, macro = {}, {}
    for name, figure in FIGURES.items():

        def pooled(chosen: Sequence[Agreement], figure: Callable[..., float | None] = figure) -> float | None:
            return figure(sum(chosen, Agreement()))

        def averaged(
            chosen: Sequence[Agreement], figure: Callable[..., float | None] = figure
        ) -> float | None:
            return mean(figure(one) for one in chosen)

        micro[name] = bootstrap(functions, pooled, seed=seed, resamples=resamples)
        macro[name] = bootstrap(functions, averaged, seed=seed, resamples=resamples)
    return Corpus(micro, macro, total)


def bootstrap(
    clusters: Sequence[Item],
    figure: Callable[[Sequence[Item]], float | None],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Estimate:
    """A figure with its percentile interval; whole clusters are drawn, because what is in one hangs together.

    Args:
        clusters: What is drawn with replacement, such as functions.
        figure: The figure over some clusters; None where it is undefined, and then that draw does not count.
        seed: Of the draws.
        resamples: How many draws.
        level: How much of the draws the interval holds.
    """
    value = figure(clusters) if clusters else None
    if value is None:
        return Estimate(None, None, None, len(clusters))
    random = np.random.default_rng(seed)
    draws = random.integers(0, len(clusters), (resamples, len(clusters)))
    drawn = [figure([clusters[i] for i in draw]) for draw in draws.tolist()]
    known = [one for one in drawn if one is not None]
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if known else (value, value)
    return Estimate(value, float(low), float(high), len(clusters))


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def closure(edges: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """The transitive closure of some edges."""
    after: dict[int, set[int]] = {}
    for source, target in edges:
        after.setdefault(source, set()).add(target)
    found = set()
    for start in after:
        seen: set[int] = set()
        stack = list(after[start])
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                stack += after.get(node, ())
        found |= {(start, node) for node in seen}
    return found


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
