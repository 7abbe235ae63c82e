"""Pass rates of sampled completions: how often each side of a pair passes, and the difference.

The interval of a difference is Newcombe's (1998, "Interval estimation for the difference between independent
proportions", method 10), from Wilson's intervals of the two rates. If sampling may end early, each check
takes a share of the error (Bonferroni), so that the interval at the end has its level, and a wrong decision
is as rare as stated, whatever the number of checks.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from counterlens.metrics.bootstrap import Estimate, pooled_mean, wilson_interval

NOTHING = 0.1
"""A smaller difference of pass rates is negligible: within this distance of 0, the model held."""
_LOOKS = 4
_LEAST = 4
"""Minimum number of samples for a check."""


class RateFinding(StrEnum):
    """The state of a pair by its samples."""

    MOVED = "moved"
    """The interval of the difference excludes 0."""
    HELD = "held"
    """The interval is within 0.1 of 0."""
    OPEN = "open"
    """Neither: there were too few samples to decide."""


@dataclass(frozen=True, slots=True)
class PassCount:
    """`passed` of `n` sampled completions passed."""

    passed: int
    n: int

    @property
    def rate(self) -> float:
        """The share that passed; NaN if there are no completions."""
        return self.passed / self.n if self.n else math.nan

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Wilson's interval of the pass rate; [0, 1] if there are no completions."""
        return wilson_interval(self.rate, self.n, level) if self.n else (0.0, 1.0)


def looks(most: int) -> tuple[int, ...]:
    """The numbers of samples at which a pair is checked, given their maximum: up to four."""
    counts = {math.ceil(most * part / _LOOKS) for part in range(1, _LOOKS + 1)}
    return tuple(sorted(n for n in counts if n >= min(_LEAST, most)))


def level_of(most: int, level: float = 0.95) -> float:
    """The level of the interval at each check, such that all checks together have the given level."""
    return 1 - (1 - level) / len(looks(most))


def equivalence_level(most: int, level: float = 0.95) -> float:
    """The same for the interval that must be near 0: two one-sided tests (Schuirmann 1987)."""
    return 1 - 2 * (1 - level) / len(looks(most))


def rate_difference(original: PassCount, counterfactual: PassCount, level: float = 0.95) -> Estimate:
    """The counterfactual's pass rate minus the original's, between -1 and 1, with its interval.

    Args:
        original: Samples of the original.
        counterfactual: Samples of the counterfactual.
        level: The confidence level of the interval.
    """
    if not original.n or not counterfactual.n:
        return Estimate(None, None, None, 0)
    (low0, high0), (low1, high1) = original.interval(level), counterfactual.interval(level)
    difference = counterfactual.rate - original.rate
    low = difference - math.hypot(counterfactual.rate - low1, high0 - original.rate)
    high = difference + math.hypot(high1 - counterfactual.rate, original.rate - low0)
    return Estimate(difference, max(-1.0, low), min(1.0, high), original.n + counterfactual.n)


def finding(original: PassCount, counterfactual: PassCount, most: int) -> RateFinding:
    """The state of a pair at one of its checks, given the maximum number of samples."""
    moved = rate_difference(original, counterfactual, level_of(most))
    near = rate_difference(original, counterfactual, equivalence_level(most))
    if moved.low is None or moved.high is None or near.low is None or near.high is None:
        return RateFinding.OPEN
    if moved.low > 0 or moved.high < 0:
        return RateFinding.MOVED
    return RateFinding.HELD if near.low > -NOTHING and near.high < NOTHING else RateFinding.OPEN


def mean_difference(pairs: Iterable[tuple[Hashable, PassCount, PassCount]]) -> Estimate:
    """The mean difference of pass rates over pairs, each given with its function.

    All pairs must have the same number of samples: if sampling ended because of its results, the rates at the
    end are too far apart on average. Functions, not pairs or samples, are assumed to be independent: the
    interval is that of clustered observations (`bootstrap.py`), and includes the randomness of sampling,
    since that is in the differences.
    """
    return pooled_mean(
        ((name, after.rate - before.rate) for name, before, after in pairs if before.n and after.n),
        bounds=(-1.0, 1.0),
    )


def pass_at(k: int, count: PassCount) -> float | None:
    """Unbiased estimate of the probability that one of k completions passes (Chen et al. 2021, equation 1).

    Returns:
        None if there are fewer than k samples.
    """
    if count.n < k:
        return None
    return 1 - math.comb(count.n - count.passed, k) / math.comb(count.n, k)
