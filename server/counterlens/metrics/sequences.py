"""A confidence sequence: an interval of a mean that is valid however often one looks, and whenever one stops.

The hedged capital of Waudby-Smith and Ramdas (2024, "Estimating means of bounded random variables by
betting", Journal of the Royal Statistical Society B 86(1), Theorem 3 and equation 26): for each possible mean
two gamblers bet against it, one that values are higher, one that they are lower. A wrong mean lets one of
them become rich; by Ville's inequality the true one does so, at any time, with a probability of at most 0.05.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from counterlens.metrics.bootstrap import Interval

_GRID = 2001  # possible means
_MOST = 0.5  # the share of its capital that a gambler may lose in one bet


def sequence_interval(
    values: Sequence[float], *, bounds: tuple[float, float] = (-1.0, 1.0), level: float = 0.95
) -> Interval:
    """The interval of the mean after n independent values, in the order in which they were observed.

    It covers the mean at every n at once with probability `level`: the intersection of the intervals so far.

    Args:
        values: (n,) n may be 0.
        bounds: The values' least and greatest possible value.
    """
    low, high = bounds
    x = (np.asarray(values, np.float64) - low) / (high - low)
    n, alpha = len(x), 1 - level
    count = np.arange(1, n + 1)
    means = (0.5 + np.cumsum(x)) / (count + 1)
    spread = (0.25 + np.cumsum((x - means) ** 2)) / (count + 1)
    before = np.concatenate([[0.25], spread])[:n]  # a bet knows only what was observed before it
    bet = np.sqrt(2 * math.log(2 / alpha) / (before * count * np.log(count + 1)))[:, None]
    mean = np.linspace(0, 1, _GRID)
    with np.errstate(divide="ignore"):
        up, down = np.minimum(bet, _MOST / mean), np.minimum(bet, _MOST / (1 - mean))
    gain = x[:, None] - mean
    capital = np.maximum(np.cumsum(np.log1p(up * gain), axis=0), np.cumsum(np.log1p(-down * gain), axis=0))
    possible = np.flatnonzero((capital < math.log(2 / alpha)).all(axis=0))
    if not len(possible):  # only if the values are no sample with one mean
        return low, high
    step = 1 / (_GRID - 1)
    first, last = max(0.0, mean[possible[0]] - step), min(1.0, mean[possible[-1]] + step)
    return low + float(first) * (high - low), low + float(last) * (high - low)
