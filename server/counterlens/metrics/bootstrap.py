"""Figures with their intervals over clusters, such as functions or files: bootstraps, and means.

The percentile bootstrap is too narrow for few clusters: the variance of n is divided by n instead of n - 1,
and the normal quantile is used instead of Student's. So the percentiles are expanded accordingly (Hesterberg
2015, "What teachers should know about the bootstrap", section 4.2). It also cannot exceed the observed
values: even the range of n clusters covers the population median only with probability 1 - 2^(1-n), so fewer
than six give no interval; nor do clusters whose resamples are all equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from counterlens.metrics.intervals import Sample, student_quantile

Item = TypeVar("Item")
Floats = npt.NDArray[np.float64]
RESAMPLES = 1000
LEAST_CLUSTERS = 6
"""Minimum number of clusters for a bootstrap interval: for fewer, 1 - 2^(1-n) is less than 0.95."""
_AT_ONCE = 200_000  # values of resamples in memory


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure over n clusters with its interval; None for a figure or an interval that is unknown."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """A known figure with its 95 % interval.

    Attributes:
        low: The lower end; None for fewer than six clusters, which show little about others.
        high: The upper end.
    """

    value: float
    low: float | None
    high: float | None


def bootstrap(
    clusters: Sequence[Item],
    figure: Callable[[Sequence[Item]], float | None],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Estimate:
    """A figure with its interval; whole clusters are resampled, because observations in them are correlated.

    Args:
        clusters: The units to resample with replacement, such as functions.
        figure: The figure over some clusters; None if it is undefined, and then that resample is dropped.
        seed: Random seed of the resamples.
        resamples: Number of resamples.
        level: The share of the resamples that the interval would contain with very many clusters.
    """
    value = figure(clusters) if clusters else None
    unknown = Estimate(value, None, None, len(clusters))
    if value is None or len(clusters) < LEAST_CLUSTERS:
        return unknown
    drawn = [figure([clusters[i] for i in draw]) for draw in _draws(len(clusters), seed, resamples).tolist()]
    known = [value for value in drawn if value is not None]
    interval = expanded_percentiles(known, len(clusters), level)
    return Estimate(value, *interval, len(clusters)) if interval else unknown


def bootstrap_pairs(
    pairs: Sequence[tuple[float, float]], figure: Callable[[Floats, Floats], Floats], *, seed: int = 0
) -> Estimate:
    """As `bootstrap`, with the same resamples, for a figure of pairs that NumPy computes for many at once.

    Args:
        pairs: The units to resample with replacement: n pairs of finite values.
        figure: Computes the figures (m,) of m samples from their first and their second values, each (m, n);
            NaN for an undefined one.
        seed: Random seed of the resamples.
    """
    n = len(pairs)
    if not n:
        return Estimate(None, None, None, 0)
    first, second = np.array(pairs, np.float64).T
    value = float(figure(first[None], second[None])[0])
    if math.isnan(value):
        return Estimate(None, None, None, n)
    unknown = Estimate(value, None, None, n)
    if n < LEAST_CLUSTERS:
        return unknown
    parts = np.array_split(_draws(n, seed, RESAMPLES), math.ceil(RESAMPLES * n / _AT_ONCE))
    drawn = np.concatenate([figure(first[part], second[part]) for part in parts])
    interval = expanded_percentiles(drawn[~np.isnan(drawn)].tolist(), n)
    return Estimate(value, *interval, n) if interval else unknown


def _draws(n: int, seed: int, resamples: int) -> npt.NDArray[np.int64]:
    """(resamples, n) indices of clusters."""
    return np.random.default_rng(seed).integers(0, n, (resamples, n))


def expanded_percentiles(drawn: Sequence[float], n: int, level: float = 0.95) -> tuple[float, float] | None:
    """The interval from the resamples of a figure of n clusters; None if they are too few, or all equal."""
    if n < LEAST_CLUSTERS or not len(drawn):
        return None
    tail = NormalDist().cdf(-math.sqrt(n / (n - 1)) * student_quantile(0.5 + level / 2, n - 1))
    low, high = np.quantile(drawn, [tail, 1 - tail]).tolist()
    return (low, high) if high - low > 1e-12 * max(abs(low), abs(high)) else None


def pooled_mean(
    values: Iterable[tuple[Hashable, float]],
    *,
    bounds: tuple[float, float] | None = None,
    least: float = -math.inf,
) -> Estimate:
    """The mean of all values, each given with its cluster.

    The interval is Student's, with the variance of clustered observations (see `intervals.py`), and unknown
    if all values are equal. Wilson's interval is used for bounded values, because it stays within the bounds.

    Args:
        least: The lower bound, if there is no upper bound; it limits Student's interval.
    """
    groups: dict[Hashable, list[float]] = {}
    for cluster, value in values:
        groups.setdefault(cluster, []).append(value)
    if not groups:
        return Estimate(None, None, None, 0)
    start, end = bounds or (0.0, 1.0)
    if bounds:
        groups = {
            name: [(value - start) / (end - start) for value in group] for name, group in groups.items()
        }
    sample = Sample.of(groups.values())
    interval = sample.share_interval() if bounds else sample.mean_interval()
    mean, low, high = (
        None if figure is None else max(least, start + figure * (end - start))
        for figure in (sample.mean, *(interval or (None, None)))
    )
    return Estimate(mean, low, high, len(groups))


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
