"""The noise floor: how often meaningless changes change a verdict, and how far an effect is above it.

Effect and floor are shares of informative pairs of the same functions, so they are correlated. The interval
of their difference d is Student's, with the variance from a jackknife that leaves out one of C functions at a
time (Efron and Tibshirani 1993, "An introduction to the bootstrap", chapter 11), which is that of a bootstrap
over functions without its randomness:

    v = (C - 1) / C sum((d without the function - d)^2)

The variance of a share is unknown if it is 0 or 1, or if v is 0. In this case, and for a single function, the
interval is composed of those of the two shares, which are never points, as if they were independent (Newcombe
1998, "Interval estimation for the difference between independent proportions", method 10): for p1 in [l1, u1]
minus p2 in [l2, u2]

    d - sqrt((p1 - l1)^2 + (u2 - p2)^2)  to  d + sqrt((u1 - p1)^2 + (p2 - l2)^2).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from counterlens.metrics.bootstrap import Estimate, Interval, student_quantile
from counterlens.metrics.effects import Proportion, pooled_share
from counterlens.metrics.summary import Observation

_LEVEL = 0.05
Changes = dict[tuple[str, str], list[bool]]
"""For each function, whether the verdict changed in each of its informative pairs."""


@dataclass(frozen=True, slots=True)
class AboveFloor:
    """An effect and the noise floor of the same functions.

    Attributes:
        effect: The average mutation effect.
        floor: The average mutation effect of the placebos: the noise floor.
        difference: The effect minus the floor, between -1 and 1; n is the number of informative pairs of
            both.
        p: The p value of the test that mutations and placebos of a function change its verdict equally often
            (`swapped_labels`); None if unknown.
        placebos: Number of judged placebos, informative or not.
    """

    effect: Proportion
    floor: Proportion
    difference: Estimate
    p: float | None
    placebos: int

    @property
    def exceeded(self) -> bool | None:
        """Whether the effect exceeds noise, by interval and by test; None if unknown."""
        low = self.difference.low
        return None if low is None else low > 0 and self.p is not None and self.p < _LEVEL


def above_floor(pairs: Iterable[Observation], placebos: Iterable[Observation]) -> AboveFloor:
    """An effect and its noise floor.

    Args:
        pairs: The pairs of mutations.
        placebos: The pairs of placebos; those of functions without `pairs` are dropped, so that both are of
            the same functions.
    """
    seen = list(pairs)
    functions = {pair.cluster for pair in seen if pair.effect is not None}
    judged = [placebo for placebo in placebos if placebo.effect is not None and placebo.cluster in functions]
    first, second = _changes(seen), _changes(judged)
    effect, floor = _share(first), _share(second)
    low, high = _interval(first, second, effect, floor) or (None, None)
    value = None if effect.value is None or floor.value is None else effect.value - floor.value
    difference = Estimate(value, low, high, effect.n + floor.n)
    return AboveFloor(effect, floor, difference, swapped_labels(first, second), len(judged))


def swapped_labels(first: Changes, second: Changes) -> float | None:
    """The exact test that pairs of two kinds change their verdict equally often within each function.

    Under this hypothesis, every assignment of the two labels to the informative pairs of a function is
    equally likely. So in each function the number of changes in pairs of the first kind is hypergeometric,
    and the distribution of their sum a convolution (the exact conditional test of stratified 2 x 2 tables;
    Cox 1970, "The analysis of binary data", section 5.2). Two-sided: twice the smaller tail, at most 1.

    Returns:
        The p value; None if every assignment gives the same sum.
    """
    total, chances = 0, np.ones(1)
    for function in sorted(first.keys() & second.keys()):
        changes, other = first[function], second[function]
        changed = sum(changes) + sum(other)
        least, most = max(0, changed - len(other)), min(len(changes), changed)
        ways = [comb(len(changes), k) * comb(len(other), changed - k) for k in range(least, most + 1)]
        total += sum(changes) - least
        chances = np.convolve(chances, np.array(ways, dtype=float) / sum(ways))
    if len(chances) == 1:
        return None
    return min(1.0, 2 * float(min(chances[: total + 1].sum(), chances[total:].sum())))


def _changes(pairs: Iterable[Observation]) -> Changes:
    changes: Changes = defaultdict(list)
    for pair in pairs:
        if pair.effect is not None and pair.effect.informative:
            changes[pair.cluster].append(pair.effect.mutation_effect == 1)
    return dict(changes)


def _share(changes: Changes) -> Proportion:
    return pooled_share((function, changed) for function, each in changes.items() for changed in each)


def _interval(first: Changes, second: Changes, effect: Proportion, floor: Proportion) -> Interval | None:
    """The interval of the effect minus the floor; None if one of them is unknown."""
    spread = _spread(first, second, effect, floor)
    p, low, high = effect.value, effect.low, effect.high
    q, least, most = floor.value, floor.low, floor.high
    if p is None or low is None or high is None or q is None or least is None or most is None:
        return None
    down, up = (
        (spread, spread) if spread else (math.hypot(p - low, most - q), math.hypot(high - p, q - least))
    )
    return max(-1.0, p - q - down), min(1.0, p - q + up)


def _spread(first: Changes, second: Changes, effect: Proportion, floor: Proportion) -> float | None:
    """Half the width of Student's interval; None if the variance of the shares is unknown."""
    functions = sorted({*first, *second})
    if not (0 < effect.count < effect.n and 0 < floor.count < floor.n):
        return None
    without = [
        share - other
        for function in functions
        for share in _share_without(first.get(function, ()), effect)
        for other in _share_without(second.get(function, ()), floor)
    ]
    difference = effect.count / effect.n - floor.count / floor.n
    total = sum((value - difference) ** 2 for value in without)
    if len(without) < 2 or total < 1e-12:
        return None
    variance = total * (len(without) - 1) / len(without)
    return student_quantile(0.975, len(without) - 1) * math.sqrt(variance)


def _share_without(changes: Sequence[bool], share: Proportion) -> Iterator[float]:
    """A share without the pairs of one function, if any are left."""
    if share.n > len(changes):
        yield (share.count - sum(changes)) / (share.n - len(changes))
