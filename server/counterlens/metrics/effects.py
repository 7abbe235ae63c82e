"""The mutation effect and its average (Hooda et al. 2024, sections 3.4 and 4.3)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist


class PairOutcome(StrEnum):
    """What can come of a counterfactual pair."""

    HELD = "held"  # right on both sides
    LOST = "lost"  # right only on the original
    GAINED = "gained"  # right only on the counterfactual
    FAILED = "failed"  # wrong on both: uninformative (Hooda et al. 2024, section 4.3)
    NOT_JUDGED = "not judged"


@dataclass(frozen=True, slots=True)
class Effect:
    """What one counterfactual changed.

    Attributes:
        original: Whether the completion of the original was found right.
        counterfactual: Whether that of the counterfactual was.
    """

    original: bool
    counterfactual: bool

    @property
    def mutation_effect(self) -> int:
        """|A(counterfactual) - A(original)|: 1 when the verdict changed, else 0."""
        return abs(self.signed)

    @property
    def signed(self) -> int:
        """-1 when only the original was right, 1 when only the counterfactual was, else 0."""
        return int(self.counterfactual) - int(self.original)

    @property
    def informative(self) -> bool:
        """Whether either was right; the paper discards pairs where both fail."""
        return self.original or self.counterfactual

    @property
    def outcome(self) -> PairOutcome:
        """What came of the pair."""
        if self.original:
            return PairOutcome.HELD if self.counterfactual else PairOutcome.LOST
        return PairOutcome.GAINED if self.counterfactual else PairOutcome.FAILED


@dataclass(frozen=True, slots=True)
class Proportion:
    """A share of n observations, with its 95 % interval; all None when there are none."""

    value: float | None
    low: float | None
    high: float | None
    count: int
    n: int


def average_mutation_effect(effects: Iterable[Effect]) -> Proportion:
    """The share of informative pairs whose verdict changed, with a Wilson interval.

    The mutation effect of one pair is 0 or 1, so its average is a proportion; the Wilson interval stays
    honest for the handful of pairs that one function gives, where a bootstrap would collapse to a point.
    """
    known = [effect for effect in effects if effect.informative]
    return wilson(sum(effect.mutation_effect for effect in known), len(known))


def wilson(count: int, n: int, level: float = 0.95) -> Proportion:
    """The Wilson score interval of a binomial proportion."""
    if n == 0:
        return Proportion(None, None, None, 0, 0)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = count / n
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    margin = z / scale * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Proportion(share, max(0.0, centre - margin), min(1.0, centre + margin), count, n)
