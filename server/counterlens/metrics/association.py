"""Whether one figure rises with another: Spearman's rank correlation (paper 002, Figures 4 and 7)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from counterlens.metrics.agreement import Estimate, bootstrap


def spearman(pairs: Sequence[tuple[float, float]], *, seed: int = 0) -> Estimate:
    """The correlation of the ranks, ties at their mean rank, with a percentile interval.

    None where there are fewer than three pairs, or one of the two never changes.
    """
    return bootstrap(list(pairs), _rho, seed=seed)


def _rho(pairs: Sequence[tuple[float, float]]) -> float | None:
    if len(pairs) < 3:
        return None
    ranks = [_ranks(np.array(column, np.float64)) for column in zip(*pairs, strict=True)]
    spread = ranks[0].std() * ranks[1].std()
    if spread == 0:
        return None
    covariance = np.mean((ranks[0] - ranks[0].mean()) * (ranks[1] - ranks[1].mean()))
    return float(covariance / spread)


def _ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Mean ranks, from 1 on."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], np.float64)
