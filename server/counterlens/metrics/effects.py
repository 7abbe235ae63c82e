"""The mutation effect and its average (Hooda et al. 2024, sections 3.4 and 4.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import count

from counterlens.metrics.bootstrap import Sample, wilson_interval


class PairOutcome(StrEnum):
    """The possible outcomes of a counterfactual pair."""

    HELD = "held"  # right on both sides
    LOST = "lost"  # right only on the original
    GAINED = "gained"  # right only on the counterfactual
    FAILED = "failed"  # wrong on both: uninformative (Hooda et al. 2024, section 4.3)
    NOT_JUDGED = "not judged"


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one counterfactual.

    Attributes:
        original: Whether the completion of the original is right.
        counterfactual: Whether the completion of the counterfactual is right.
    """

    original: bool
    counterfactual: bool

    @property
    def mutation_effect(self) -> int:
        """|A(counterfactual) - A(original)|: 1 if the verdict changed, else 0."""
        return abs(self.signed)

    @property
    def signed(self) -> int:
        """-1 if only the original is right, 1 if only the counterfactual is, else 0."""
        return int(self.counterfactual) - int(self.original)

    @property
    def informative(self) -> bool:
        """Whether at least one is right; the paper discards pairs where both fail."""
        return self.original or self.counterfactual

    @property
    def outcome(self) -> PairOutcome:
        """The outcome of the pair."""
        if self.original:
            return PairOutcome.HELD if self.counterfactual else PairOutcome.LOST
        return PairOutcome.GAINED if self.counterfactual else PairOutcome.FAILED


@dataclass(frozen=True, slots=True)
class Proportion:
    """A share of n observations, with its 95 % interval; all None if there are none."""

    value: float | None
    low: float | None
    high: float | None
    count: int
    n: int

    @property
    def complement(self) -> Proportion:
        """The share of the others."""
        if self.value is None or self.low is None or self.high is None:
            return self
        return Proportion(1 - self.value, 1 - self.high, 1 - self.low, self.n - self.count, self.n)


def average_mutation_effect(
    effects: Iterable[Effect], clusters: Iterable[Hashable] | None = None
) -> Proportion:
    """The share of informative pairs whose verdict changed; the effect of one pair is 0 or 1.

    Args:
        clusters: The cluster of each pair, such as its function; None if the pairs are independent.
    """
    return pooled_share(
        (cluster, effect.mutation_effect == 1)
        for effect, cluster in zip(effects, count() if clusters is None else clusters, strict=False)
        if effect.informative
    )


def wilson(count: int, n: int, level: float = 0.95) -> Proportion:
    """The share of n independent observations, with its Wilson score interval."""
    if n == 0:
        return Proportion(None, None, None, 0, 0)
    return Proportion(count / n, *wilson_interval(count / n, n, level), count, n)


def pooled_share(values: Iterable[tuple[Hashable, bool]], level: float = 0.95) -> Proportion:
    """The share of true values, each given with its cluster.

    The interval is Wilson's with the effective sample size (see `bootstrap.py`), which is n if each cluster
    has one value.
    """
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for cluster, value in values:
        groups[cluster].append(1 if value else 0)
    if not groups:
        return wilson(0, 0)
    sample = Sample.of(groups.values())
    holding = sum(map(sum, groups.values()))
    return Proportion(sample.mean, *sample.share_interval(level), holding, sample.n)
