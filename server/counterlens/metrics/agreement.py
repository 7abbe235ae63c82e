"""The agreement of two sets of edges: precision, recall and F1, over one function and over many.

With tp found and true, fp found and not true, fn true and not found: precision tp / (tp + fp), recall tp /
(tp + fn), F1 2 tp / (2 tp + fp + fn) (Nguyen et al. 2024, section 5.1, RQ4). A figure with the denominator 0
is None: a function without dependences in which none are found has no precision, recall or F1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import TypeVar

from counterlens.metrics.bootstrap import RESAMPLES, Estimate, bootstrap, pooled_mean

Item = TypeVar("Item")
Node = TypeVar("Node", bound=Hashable)


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


FIGURES: dict[str, Callable[[Agreement], float | None]] = {
    "precision": lambda agreement: agreement.precision,
    "recall": lambda agreement: agreement.recall,
    "f1": lambda agreement: agreement.f1,
}


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
