"""The change of a share between two sets of observations over functions, some of which are in both."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from counterlens.metrics.bootstrap import Estimate, bootstrap

Counts = tuple[int, int]
"""For one cluster, the number of observations, and the number of true ones."""


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
