"""Significance tests for scores, and adjustment for several tests.

McNemar's exact test for paired verdicts is in `summary.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from counterlens.errors import CounterlensError

Alternative = Literal["two-sided", "greater", "less"]


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
