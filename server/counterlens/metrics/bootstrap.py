"""Figures with their intervals: percentile bootstraps over clusters, such as functions or files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure over n clusters with its interval; all None where it is undefined."""

    value: float | None
    low: float | None
    high: float | None
    n: int


def bootstrap(
    clusters: Sequence[Item],
    figure: Callable[[Sequence[Item]], float | None],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Estimate:
    """A figure with its percentile interval; whole clusters are drawn, because what is in one hangs together.

    Args:
        clusters: What is drawn with replacement, such as functions.
        figure: The figure over some clusters; None where it is undefined, and then that draw does not count.
        seed: Of the draws.
        resamples: How many draws.
        level: How much of the draws the interval holds.
    """
    value = figure(clusters) if clusters else None
    if value is None:
        return Estimate(None, None, None, len(clusters))
    random = np.random.default_rng(seed)
    draws = random.integers(0, len(clusters), (resamples, len(clusters)))
    drawn = [figure([clusters[i] for i in draw]) for draw in draws.tolist()]
    known = [one for one in drawn if one is not None]
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if known else (value, value)
    return Estimate(value, float(low), float(high), len(clusters))


def pooled_mean(values: Iterable[tuple[str, float]], *, seed: int = 0) -> Estimate:
    """The mean of all values, each given with the cluster that it belongs to."""
    groups: dict[str, list[float]] = {}
    for cluster, value in values:
        groups.setdefault(cluster, []).append(value)
    return bootstrap(
        list(groups.values()), lambda chosen: mean(one for group in chosen for one in group), seed=seed
    )


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
