"""Differences of scores and shares: their significance and intervals, and the smallest one that can be shown.

McNemar's exact test for paired verdicts is in `summary.py`. For the smallest difference that a number of
functions can show, each function counts as one observation, because its pairs are correlated, and gives a
paired outcome: with one model and with another, or with the change and without it. If the outcomes of a share
d of the functions differ, a difference of x is detected with probability `POWER` by a two-sided test at 5 %
from

    n = (z(0.975) sqrt(d) + z(POWER) sqrt(d - x^2))^2 / x^2

functions on (Connor 1987, "Sample size for testing differences in proportions for the paired-sample design").
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from statistics import NormalDist, median
from typing import Literal

from counterlens.errors import CounterlensError
from counterlens.metrics.bootstrap import Estimate, bootstrap, pooled_mean
from counterlens.metrics.effects import Proportion, wilson
from counterlens.metrics.summary import EffectSummary, Observation, completions, mcnemar_exact

DETECTABLE_DIFFERENCE = 0.1
"""A difference of ten percentage points: the default for the number of functions needed."""
WEAK = 0.2
"""A model with a smaller share of right originals is too weak for its effects to be meaningful."""
Counts = tuple[int, int]
"""For one cluster, the number of observations, and the number of true ones."""
Alternative = Literal["two-sided", "greater", "less"]
POWER = 0.8
"""The probability of detecting a difference of that size."""
DISCORDANT = 0.5
"""Default share of functions whose outcomes differ: that of two coin tosses."""
_BETWEEN = NormalDist().inv_cdf(0.975)
_TOLD = NormalDist().inv_cdf(POWER)


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """Two models on the same functions.

    Attributes:
        first: The model with the larger share of right completions, of originals and of counterfactuals.
        second: The other model.
        difference: The first's share minus the second's, with an interval over functions; several comparisons
            together have a level of 95 % (Bonferroni).
        needed: The approximate number of functions that would show a difference of
            `DETECTABLE_DIFFERENCE` with probability `POWER`; None if unknown.
    """

    first: str
    second: str
    difference: Estimate
    needed: int | None

    @property
    def significant(self) -> bool:
        """Whether the first is right more often beyond chance."""
        return self.difference.low is not None and self.difference.low > 0


def compare_pairwise(
    pairs: Mapping[str, Sequence[Observation]], *, seed: int = 0, family: int = 1
) -> tuple[ModelComparison, ...]:
    """Compare every two models that have judged pairs, over the functions that both have.

    Args:
        seed: Random seed of the bootstrap.
        family: Number of comparisons that are read together, if there are more than these.
    """
    wrong = {
        model: _count((cluster, not right) for cluster, right in completions(some))
        for model, some in pairs.items()
    }
    counted = {model: counts for model, counts in wrong.items() if counts}
    compared = [*combinations(counted, 2)]
    level = 1 - 0.05 / max(1, len(compared), family)
    return tuple(_comparison(counted, both, level, seed) for both in compared)


class Adequacy(StrEnum):
    """Whether a model completes enough originals correctly for its effects to be meaningful."""

    ADEQUATE = "adequate"
    PERHAPS_WEAK = "perhaps too weak"
    """The share of right originals is below `WEAK`, and its interval is not."""
    WEAK = "too weak"


def adequacy(summary: EffectSummary) -> Adequacy:
    """Compare the share of originals that a model completes correctly with `WEAK`."""
    right = summary.original_accuracy
    if right.value is None or right.value >= WEAK:
        return Adequacy.ADEQUATE
    return Adequacy.WEAK if right.high is not None and right.high < WEAK else Adequacy.PERHAPS_WEAK


def _comparison(
    counted: Mapping[str, Mapping[Hashable, Counts]], both: tuple[str, str], level: float, seed: int
) -> ModelComparison:
    counts, other = (counted[model] for model in both)
    functions = [(counts[name], other[name]) for name in counts if name in other]
    estimate = bootstrap(functions, difference, seed=seed, level=level)
    if estimate.value is not None and estimate.value < 0:
        both, functions = both[::-1], [pair[::-1] for pair in functions]
        estimate = bootstrap(functions, difference, seed=seed, level=level)
    return ModelComparison(*both, estimate, _functions_needed(estimate, level))


def _functions_needed(estimate: Estimate, level: float) -> int | None:
    if estimate.low is None or estimate.high is None:
        return None
    outside, power_quantile = NormalDist().inv_cdf(0.5 + level / 2), NormalDist().inv_cdf(POWER)
    error = (estimate.high - estimate.low) / (2 * outside)
    return math.ceil(estimate.n * ((outside + power_quantile) * error / DETECTABLE_DIFFERENCE) ** 2)


@dataclass(frozen=True, slots=True)
class PairedShares:
    """Two conditions for the same units.

    Attributes:
        n: Number of units with both conditions.
        first: The share of right units in the first condition.
        second: The share of right units in the second condition.
        difference: Second minus first, between -1 and 1.
        gained: Number of units right in the second condition only.
        lost: Number of units right in the first condition only.
        p: p value of McNemar's exact test; None if no unit differs.
    """

    n: int
    first: Proportion
    second: Proportion
    difference: Estimate
    gained: int
    lost: int
    p: float | None


def paired_shares(first: Mapping[str, bool], second: Mapping[str, bool]) -> PairedShares:
    """Compare two conditions, on the units that have both.

    Args:
        first: Whether each unit is right, by name; units are independent.
        second: The same in the second condition.
    """
    both = sorted(first.keys() & second.keys())
    gained = sum(second[unit] and not first[unit] for unit in both)
    lost = sum(first[unit] and not second[unit] for unit in both)
    differences = ((unit, float(second[unit]) - float(first[unit])) for unit in both)
    return PairedShares(
        len(both),
        wilson(sum(first[unit] for unit in both), len(both)),
        wilson(sum(second[unit] for unit in both), len(both)),
        pooled_mean(differences, bounds=(-1.0, 1.0)),
        gained,
        lost,
        mcnemar_exact(lost, gained),
    )


def shift(
    before: Iterable[tuple[Hashable, bool]], after: Iterable[tuple[Hashable, bool]], *, seed: int = 0
) -> Estimate:
    """The later share minus the earlier one, with a 95 % interval over clusters.

    A cluster in both sets is resampled with both of its sides, so that unchanged clusters add no noise; `n`
    is the number of clusters in either set.

    Args:
        before: The earlier observations, each with its cluster, such as its function.
        after: The later observations.
        seed: Random seed of the bootstrap.
    """
    first, second = _count(before), _count(after)
    names = dict.fromkeys([*first, *second])
    pairs = [(first.get(name, (0, 0)), second.get(name, (0, 0))) for name in names]
    return bootstrap(pairs, difference, seed=seed)


def difference(pairs: Sequence[tuple[Counts, Counts]]) -> float | None:
    """The second share minus the first, over clusters with counts of both; None if one is empty."""
    n = true = m = others = 0
    for (earlier, true_earlier), (later, true_later) in pairs:
        n, true, m, others = n + earlier, true + true_earlier, m + later, others + true_later
    return others / m - true / n if n and m else None


def _count(values: Iterable[tuple[Hashable, bool]]) -> dict[Hashable, Counts]:
    counts: dict[Hashable, Counts] = {}
    for cluster, value in values:
        n, true = counts.get(cluster, (0, 0))
        counts[cluster] = n + 1, true + value
    return counts


@dataclass(frozen=True, slots=True)
class SignedRank:
    """Wilcoxon's signed-rank test of paired scores.

    Attributes:
        n: Number of pairs.
        different: Number of pairs whose scores differ; the others have no rank.
        median: The median of second minus first, over all pairs; None if there are none.
        p: The p value for the alternative; None if no pair differs.
    """

    n: int
    different: int
    median: float | None
    p: float | None


def signed_rank(
    pairs: Sequence[tuple[float, float]], *, alternative: Alternative = "two-sided"
) -> SignedRank:
    """Test whether the second scores tend to be above, or below, the first (Wilcoxon 1945).

    Exact for few pairs, else by the normal approximation with a correction for ties; not randomised.

    Args:
        pairs: (first, second) of each unit. The units are independent.
        alternative: `greater` tests only whether the second tend to be above the first; `less`, below.

    Raises:
        CounterlensError: SciPy is not installed.
    """
    # Rounded, because two equal shares may differ in their last bit, and would then get a rank.
    differences = [round(after - before, 12) for before, after in pairs]
    different = [difference for difference in differences if difference]
    if not different:
        return SignedRank(len(pairs), 0, median(differences) if differences else None, None)
    try:
        from scipy.stats import wilcoxon
    except ImportError:
        raise CounterlensError(
            "Wilcoxon's test needs SciPy, which is not installed",
            "Install it with: pip install 'counterlens[statistics]'",
        ) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about too small samples: the p value shows that, too
        p = float(wilcoxon(different, zero_method="wilcox", method="auto", alternative=alternative).pvalue)
    return SignedRank(len(pairs), len(different), median(differences), min(1.0, p))


def rank_sum(values: Sequence[float], other: Sequence[float]) -> float | None:
    """Test whether the values of one group tend to be above, or below, another's (Mann and Whitney 1947).

    Two-sided; exact for small groups without ties, else by the normal approximation with tie correction.

    Returns:
        The p value; None if a group is empty, or all values are equal.

    Raises:
        CounterlensError: SciPy is not installed.
    """
    rounded = [[round(value, 12) for value in group] for group in (values, other)]  # as in `signed_rank`
    if not values or not other or len({*rounded[0], *rounded[1]}) == 1:
        return None
    try:
        from scipy.stats import mannwhitneyu
    except ImportError:
        raise CounterlensError(
            "the Mann-Whitney test needs SciPy, which is not installed",
            "Install it with: pip install 'counterlens[statistics]'",
        ) from None
    return float(mannwhitneyu(*rounded, alternative="two-sided").pvalue)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """The p values of a family of tests, adjusted to keep the rate of any false positive within the level.

    Holm (1979): the smallest of m is multiplied by m, the next by m - 1, and so on, and the results are made
    non-decreasing. A test without data (None) does not count.
    """
    order = sorted((p, i) for i, p in enumerate(values) if p is not None)
    adjusted: list[float | None] = [None] * len(values)
    highest = 0.0
    for rank, (p, i) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - rank)))
        adjusted[i] = highest
    return adjusted


def p_text(p: float | None) -> str | None:
    """A p value in three digits; None if there was no test."""
    return None if p is None else f"{p:.3g}"


def functions_needed(difference: float, discordant: float = DISCORDANT) -> int:
    """The number of functions needed to detect a difference of two shares.

    Args:
        difference: Above 0, at most `discordant`.
        discordant: The share of functions whose outcomes differ.
    """
    spread = _BETWEEN * math.sqrt(discordant) + _TOLD * math.sqrt(discordant - difference**2)
    return math.ceil((spread / difference) ** 2)


def detectable_difference(functions: int, discordant: float = DISCORDANT) -> float | None:
    """The smallest difference of two shares that a number of functions can show; None if they show none."""
    if functions < 1 or functions_needed(discordant, discordant) > functions:
        return None
    low, high = 0.0, discordant
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if functions_needed(middle, discordant) <= functions else (middle, high)
    return high
