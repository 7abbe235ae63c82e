"""Correlations between two figures.

Spearman's rank correlation (Liu et al. 2024, Figures 4 and 7) and Pearson's (Hooda et al. 2024, Figure 4;
Palacio et al. 2023, Table II).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from counterlens.metrics.bootstrap import Estimate, bootstrap


def spearman(pairs: Sequence[tuple[float, float]], *, seed: int = 0) -> Estimate:
    """The correlation of the ranks, with mean ranks for ties, and a percentile interval.

    None if there are fewer than three pairs, or one of the two is constant.
    """
    return bootstrap(list(pairs), _rho, seed=seed)


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's correlation alone; None as for `spearman`."""
    return _rho(pairs)


def pearson(pairs: Sequence[tuple[float, float]], *, seed: int = 0) -> Estimate:
    """The linear correlation, with a percentile interval; None as for `spearman`."""
    return bootstrap(list(pairs), correlation, seed=seed)


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's correlation alone; None if there are fewer than three pairs, or one side is constant."""
    if len(pairs) < 3:
        return None
    columns = np.array(pairs, np.float64).T
    return _correlation(columns[0], columns[1])


def _rho(pairs: Sequence[tuple[float, float]]) -> float | None:
    if len(pairs) < 3:
        return None
    columns = np.array(pairs, np.float64).T
    return _correlation(_ranks(columns[0]), _ranks(columns[1]))


def _correlation(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float | None:
    spread = one.std() * other.std()
    # Constant values may still have a spread from rounding.
    if spread == 0 or np.ptp(one) < 1e-12 * abs(one[0]) or np.ptp(other) < 1e-12 * abs(other[0]):
        return None
    covariance = np.mean((one - one.mean()) * (other - other.mean()))
    return float(np.clip(covariance / spread, -1.0, 1.0))


def _ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Mean ranks, from 1."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], np.float64)
