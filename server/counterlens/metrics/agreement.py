"""How far two sets of edges agree: precision, recall and F1, over one function and over many.

With tp found and true, fp found and not true, fn true and not found: precision tp / (tp + fp), recall
tp / (tp + fn), F1 2 tp / (2 tp + fp + fn) (Nguyen et al. 2024, section 5.1, RQ4). Where a denominator is 0
the figure is None: a function without dependences in which none are found has no precision, recall or F1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import TypeVar

from counterlens.metrics.bootstrap import RESAMPLES, Estimate, bootstrap, mean

Item = TypeVar("Item")


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
