"""Figures with their intervals over clusters, such as functions or files: bootstraps, and means.

The percentile bootstrap is too narrow for few clusters: the variance of n is divided by n instead of n - 1,
and the normal quantile is used instead of Student's. So the percentiles are expanded accordingly (Hesterberg
2015, "What teachers should know about the bootstrap", section 4.2). It also cannot exceed the observed
values: even the range of n clusters covers the population median only with probability 1 - 2^(1-n), so fewer
than six give no interval; nor do clusters whose resamples are all equal.

Confidence intervals in closed form for means of clustered observations: Wilson's, and Student's.

Observations of one cluster, such as the pairs of one function, are correlated, so n of them are worth less
than n independent ones. The analysis of variance estimates the difference (Searle, Casella and McCulloch
1992, section 3.6): with the components b between and w within clusters of sizes m, the variance of the mean
is
    v = b sum(m^2) / n^2 + w / n.

A share p with that variance is as precise as one of p (1 - p) / v independent observations, its effective
sample size (Kish 1965, section 8.2), and Wilson's interval is computed for that size. v is itself estimated,
from C clusters, so the size is multiplied by (z / t)^2 with Student's t of C - 1 degrees of freedom (Korn and
Graubard 1998; Dean and Pagano 2015). No share is less precise than if each cluster had one value throughout,
so the size is at least n^2 / sum(m^2); this is also the size if all observations are equal and v is unknown.
Observations that are 0 or 1 are never more precise than n independent ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Interval = tuple[float, float]

_MOST_DEGREES = 1000
"""More degrees of freedom change Student's quantile by less than 0.3 %."""
Floats = npt.NDArray[np.float64]
RESAMPLES = 1000
LEAST_CLUSTERS = 6
"""Minimum number of clusters for a bootstrap interval: for fewer, 1 - 2^(1-n) is less than 0.95."""
_AT_ONCE = 200_000  # values of resamples in memory


@dataclass(frozen=True, slots=True)
class Sample:
    """Observations in clusters.

    Attributes:
        n: Number of observations.
        clusters: Number of clusters.
        variance: Estimated variance of that mean; 0 if all observations are equal.
        independent: Minimum number of independent observations that they are worth: n^2 / sum(m^2).
        binary: Whether all are 0 or 1.
        equal: Whether all are equal.
    """

    n: int
    clusters: int
    mean: float
    variance: float
    independent: float
    binary: bool
    equal: bool

    @classmethod
    def of(cls, groups: Collection[Sequence[float]]) -> Sample:
        """Describe groups, none of them empty; at least one."""
        n = sum(map(len, groups))
        mean = sum(map(sum, groups)) / n
        crowding = sum(len(group) ** 2 for group in groups) / n  # the mean cluster size over observations
        distinct = set[float]().union(*groups)
        return cls(
            n=n,
            clusters=len(groups),
            mean=mean,
            variance=_variance(groups, n, mean, crowding),
            independent=n / crowding,
            binary=distinct <= {0, 1},
            equal=len(distinct) == 1,
        )

    def share_interval(self, level: float = 0.95) -> Interval:
        """The interval of a mean in [0, 1]; never a point.

        Wilson's interval bounds the number of zeros or ones if all observations are the same fraction.
        """
        size = self.effective_size(level)
        if self.binary or not self.equal:
            return wilson_interval(self.mean, size, level)
        others = wilson_interval(0, size, level)[1]
        return self.mean * (1 - others), self.mean + (1 - self.mean) * others

    def mean_interval(self, level: float = 0.95) -> Interval | None:
        """Student's interval; None if all values are equal, because then their variance is unknown."""
        if self.clusters < 2 or not self.variance:
            return None
        margin = student_quantile(0.5 + level / 2, self.clusters - 1) * math.sqrt(self.variance)
        return self.mean - margin, self.mean + margin

    def effective_size(self, level: float = 0.95) -> float:
        """The number of independent observations of 0 and 1 that they are worth.

        Observations of a single cluster show nothing about others: they are treated as independent, and the
        interval is about that cluster.
        """
        if self.clusters == 1:
            return float(self.n)
        size = self.independent
        if self.variance:
            upper = 0.5 + level / 2
            ratio = NormalDist().inv_cdf(upper) / student_quantile(upper, self.clusters - 1)
            size = max(size, self.mean * (1 - self.mean) / self.variance * ratio**2)
        return min(size, self.n) if self.binary else size


def wilson_interval(share: float, n: float, level: float = 0.95) -> Interval:
    """Wilson's score interval (1927) of a share of n independent observations; n need not be whole."""
    z = NormalDist().inv_cdf(0.5 + level / 2)
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    margin = z / scale * math.sqrt(max(0.0, share * (1 - share)) / n + z * z / (4 * n * n))
    return min(share, max(0.0, centre - margin)), max(share, min(1.0, centre + margin))


@lru_cache(maxsize=1024)
def student_quantile(probability: float, degrees: int) -> float:
    """The quantile of Student's t above one half, by bisection of its distribution function.

    Args:
        probability: More than 0.5, less than 1.
        degrees: Degrees of freedom, 1 or more.
    """
    degrees = min(degrees, _MOST_DEGREES)
    low, high = 0.0, math.pi / 2  # t = tan(angle) sqrt(degrees)
    for _ in range(60):
        middle = (low + high) / 2
        if 0.5 + _student_half(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return math.tan(low) * math.sqrt(degrees)


def _student_half(angle: float, degrees: int) -> float:
    """The probability of 0 < T < tan(angle) sqrt(degrees) (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    total = term if degrees > 1 else 0.0
    for k in range(2 + odd, degrees - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    return (angle + sine * total) / math.pi if odd else sine * total / 2


def _variance(groups: Collection[Sequence[float]], n: int, mean: float, crowding: float) -> float:
    """The estimated variance of the mean of all observations; 0 for a single cluster or equal values."""
    clusters = len(groups)
    if clusters < 2:
        return 0.0
    averages = [(len(group), sum(group) / len(group)) for group in groups]
    between = sum(size * (average - mean) ** 2 for size, average in averages) / (clusters - 1)
    inside = sum(
        (value - average) ** 2
        for group, (_, average) in zip(groups, averages, strict=True)
        for value in group
    )
    within = inside / (n - clusters) if n > clusters else 0.0
    usual_size = (n - crowding) / (clusters - 1)
    component = max(0.0, between - within) / usual_size
    total = component * crowding / n + within / n
    # Equal values may differ by the rounding of the mean.
    return total if total > (1e-12 * abs(mean)) ** 2 else 0.0


Item = TypeVar("Item")


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
    figures = [value for value in drawn if value is not None]
    interval = expanded_percentiles(figures, len(clusters), level)
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
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None
