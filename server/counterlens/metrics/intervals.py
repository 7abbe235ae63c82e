"""Confidence intervals in closed form for means of clustered observations: Wilson's, and Student's.

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
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

Interval = tuple[float, float]

_MOST_DEGREES = 1000
"""More degrees of freedom change Student's quantile by less than 0.3 %."""


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
