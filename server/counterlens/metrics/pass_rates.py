"""Pass rates of completions that are drawn: how often each side of a pair passes, and how far they differ.

The interval of a difference is Newcombe's (1998, "Interval estimation for the difference between independent
proportions", method 10), made of Wilson's intervals of the two rates. If drawing may end early, each check of
the draws takes a share of the error (Bonferroni), so that the interval at which drawing ends covers, and an
end that was called by chance is as rare as promised, however many looks there were.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from counterlens.metrics.bootstrap import Estimate, pooled_mean
from counterlens.metrics.intervals import wilson_interval

NOTHING = 0.1
"""A difference of pass rates that is smaller is none: inside of this either way, the model held."""
_LOOKS = 4
_LEAST = 4
"""Looks are taken at no fewer draws than this."""


class RateFinding(StrEnum):
    """The state of a pair by its draws."""

    MOVED = "moved"
    """The interval of the difference excludes 0."""
    HELD = "held"
    """It lies inside of 0.1 either way."""
    OPEN = "open"
    """Neither: there were too few draws to tell."""


@dataclass(frozen=True, slots=True)
class PassCount:
    """`passed` of `n` sampled completions passed."""

    passed: int
    n: int

    @property
    def rate(self) -> float:
        """The share that passed; NaN of none."""
        return self.passed / self.n if self.n else math.nan

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Wilson's interval of the pass rate; all there is, of none."""
        return wilson_interval(self.rate, self.n, level) if self.n else (0.0, 1.0)


def looks(most: int) -> tuple[int, ...]:
    """The numbers of draws at which a pair is checked, given the most draws: up to four."""
    found = {math.ceil(most * part / _LOOKS) for part in range(1, _LOOKS + 1)}
    return tuple(sorted(n for n in found if n >= min(_LEAST, most)))


def level_of(most: int, level: float = 0.95) -> float:
    """The level of the interval at each look, so that all of them together err as rarely as `level` says."""
    return 1 - (1 - level) / len(looks(most))


def equivalence_level(most: int, level: float = 0.95) -> float:
    """The same of the interval that has to lie near 0: two tests, each of one side (Schuirmann 1987)."""
    return 1 - 2 * (1 - level) / len(looks(most))


def rate_difference(original: PassCount, counterfactual: PassCount, level: float = 0.95) -> Estimate:
    """The counterfactual's pass rate less the original's, between -1 and 1, with its interval.

    Args:
        original: Draws of one side.
        counterfactual: Draws of the other.
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
    """The state of a pair at one of its checks, given the most draws."""
    moved = rate_difference(original, counterfactual, level_of(most))
    near = rate_difference(original, counterfactual, equivalence_level(most))
    if moved.low is None or moved.high is None or near.low is None or near.high is None:
        return RateFinding.OPEN
    if moved.low > 0 or moved.high < 0:
        return RateFinding.MOVED
    return RateFinding.HELD if near.low > -NOTHING and near.high < NOTHING else RateFinding.OPEN


def mean_difference(pairs: Iterable[tuple[Hashable, PassCount, PassCount]]) -> Estimate:
    """The mean difference of pass rates over pairs, each given with the function that it is of.

    All pairs must have equally many draws: where drawing ended because of what was drawn, the rates at which
    it ended are too far apart on average. Functions, not pairs or draws, are taken as independent: the
    interval is that of clustered observations (`intervals.py`), and holds what chance of drawing there is,
    since that is in the differences.
    """
    return pooled_mean(
        ((name, after.rate - before.rate) for name, before, after in pairs if before.n and after.n),
        bounds=(-1.0, 1.0),
    )


def pass_at(k: int, count: PassCount) -> float | None:
    """The chance that one of k completions passes, without bias (Chen et al. 2021, equation 1).

    Returns:
        None if fewer than k were drawn.
    """
    if count.n < k:
        return None
    return 1 - math.comb(count.n - count.passed, k) / math.comb(count.n, k)
