"""Correlations between two figures.

Spearman's rank correlation (Liu et al. 2024, Figures 4 and 7) and Pearson's (Hooda et al. 2024, Figure 4;
Palacio et al. 2023, Table II).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from counterlens.metrics.bootstrap import Estimate, Floats, bootstrap_pairs

FEW_POINTS = 10
"""Number of points below which a correlation says little."""


def few_points(counts: Iterable[int]) -> str:
    """The end of a note on correlations over these numbers of points; empty if all have enough."""
    little = f"; over fewer than {FEW_POINTS} points, a correlation says little"
    return little if any(count < FEW_POINTS for count in counts) else ""


def spearman(pairs: Sequence[tuple[float, float]], *, seed: int = 0) -> Estimate:
    """The correlation of the ranks, with mean ranks for ties, and a percentile interval.

    None if there are fewer than three pairs, or one of the two is constant.
    """
    return bootstrap_pairs(pairs, _rho, seed=seed)


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's correlation alone; None as for `spearman`."""
    return _alone(pairs, _rho)


def pearson(pairs: Sequence[tuple[float, float]], *, seed: int = 0) -> Estimate:
    """The linear correlation, with a percentile interval; None as for `spearman`."""
    return bootstrap_pairs(pairs, _correlations, seed=seed)


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's correlation alone; None if there are fewer than three pairs, or one side is constant."""
    return _alone(pairs, _correlations)


def _alone(pairs: Sequence[tuple[float, float]], figure: Callable[[Floats, Floats], Floats]) -> float | None:
    if not pairs:
        return None
    first, second = np.array(pairs, np.float64).T
    (value,) = figure(first[None], second[None]).tolist()
    return None if math.isnan(value) else value


def _rho(values: Floats, other: Floats) -> Floats:
    return _correlations(_ranks(values), _ranks(other))


def _correlations(values: Floats, other: Floats) -> Floats:
    """(m,) correlations of m samples, each (m, n); NaN for fewer than three values or constant ones."""
    if values.shape[1] < 3:
        return np.full(len(values), np.nan)
    spread = values.std(axis=1) * other.std(axis=1)
    # Constant values may still have a spread from rounding.
    constant = (spread == 0) | _flat(values) | _flat(other)
    centred = (values - values.mean(axis=1, keepdims=True)) * (other - other.mean(axis=1, keepdims=True))
    correlations = centred.mean(axis=1) / np.where(constant, np.nan, spread)
    return np.asarray(np.clip(correlations, -1.0, 1.0), np.float64)


def _flat(values: Floats) -> npt.NDArray[np.bool_]:
    return np.asarray(np.ptp(values, axis=1) < 1e-12 * np.abs(values[:, 0]), np.bool_)


def _ranks(samples: Floats) -> Floats:
    """(m, n) mean ranks in each of m samples, from 1."""
    values, codes = np.unique(samples, return_inverse=True)
    places = codes.reshape(samples.shape) + np.arange(len(samples))[:, None] * len(values)
    counts = np.bincount(places.ravel(), minlength=len(samples) * len(values))
    last = np.cumsum(counts.reshape(len(samples), -1), axis=1).ravel()
    return np.asarray((last - (counts - 1) / 2)[places], np.float64)
