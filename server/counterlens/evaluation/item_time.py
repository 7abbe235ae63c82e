"""Seconds per item of a run, learned from finished items: some per prompt, and some per function.

The expected duration of an item of which only the elapsed time is known is that of a log-normal
distribution above a bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

BESIDE = 3.0
"""Overhead per function in prompts, until enough items are done: finding and running its tests."""
SPREAD = 0.6
"""Standard deviation of the logarithm of an item's time, given its prompts; from recorded runs."""
_PRIOR = 0.5  # weight of the assumed overhead, in items
_NEVER_ALL = 0.1  # minimum remaining share of the expected time of an item that has taken far longer
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class ItemTime:
    """The time of an item, in seconds: `per_prompt` for each of its prompts, and `per_function`.

    Attributes:
        per_prompt: Seconds per prompt.
        per_function: Further seconds.
        weight: Weight of this time as a forecast, in items of the run that it is for.
    """

    per_prompt: float
    per_function: float
    weight: float = 2.0

    def of(self, prompts: float) -> float:
        """The expected seconds of an item."""
        return self.per_prompt * prompts + self.per_function

    def times(self, factor: float) -> ItemTime:
        """The same for items that take `factor` times as long."""
        return ItemTime(self.per_prompt * factor, self.per_function * factor, self.weight)


@dataclass(slots=True)
class ItemTimes:
    """Observed items, stored as sums, so that the cost does not depend on the length of the run.

    The weight of an item is one over its prompts, since long items vary more.
    """

    count: float = 0.0
    prompts: float = 0.0
    seconds: float = 0.0
    _weight: float = 0.0
    _weighted_prompts: float = 0.0
    _squared_prompts: float = 0.0
    _weighted_seconds: float = 0.0
    _products: float = 0.0

    def add(self, prompts: float, seconds: float, count: float = 1.0) -> None:
        """Add `count` items with `prompts` prompts each that took `seconds` seconds each."""
        weight = count / (prompts + BESIDE)
        self.count += count
        self.prompts += count * prompts
        self.seconds += count * seconds
        self._weight += weight
        self._weighted_prompts += weight * prompts
        self._squared_prompts += weight * prompts * prompts
        self._weighted_seconds += weight * seconds
        self._products += weight * prompts * seconds

    def __add__(self, other: ItemTimes) -> ItemTimes:
        return ItemTimes(*(getattr(self, name) + getattr(other, name) for name in ItemTimes.__slots__))

    def expected(self, time: ItemTime) -> float:
        """The seconds of these items if each takes the given time."""
        return time.per_prompt * self.prompts + time.per_function * self.count

    def fitted(self) -> ItemTime:
        """The time per item by weighted least squares, with no part below 0; needs at least one item."""
        pace = self.seconds / (self.prompts + BESIDE * self.count)
        weight = self._weight + _PRIOR / BESIDE
        seconds = self._weighted_seconds + _PRIOR * pace  # as items without prompts that take the overhead
        determinant = weight * self._squared_prompts - self._weighted_prompts**2
        if determinant <= 0:
            return ItemTime(pace, BESIDE * pace)
        per_prompt = (weight * self._products - self._weighted_prompts * seconds) / determinant
        per_function = (
            self._squared_prompts * seconds - self._weighted_prompts * self._products
        ) / determinant
        if per_prompt < 0:
            return ItemTime(0.0, seconds / weight)
        if per_function < 0:
            return ItemTime(self._products / self._squared_prompts, 0.0)
        return ItemTime(per_prompt, per_function)


def expected(seconds: float, waited: float) -> float:
    """Expected total duration of an item, given its expected duration and the seconds so far.

    It is the mean of a log-normal distribution above a bound: always more than `waited`.
    """
    if waited <= 0 or seconds <= 0:
        return max(seconds, waited)
    z = (math.log(waited / seconds) + SPREAD**2 / 2) / SPREAD
    longer = _NORMAL.cdf(-z)
    least = waited + _NEVER_ALL * seconds
    return least if longer < 1e-9 else max(least, seconds * _NORMAL.cdf(SPREAD - z) / longer)
