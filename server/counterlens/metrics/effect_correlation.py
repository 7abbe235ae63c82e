"""Do a model's errors under one mutation go with those under another? Hooda et al. 2024, Figure 4.

The unit is a function, because the pairs of one resemble each other: its value for a mutation is the mean
effect of its informative pairs. Two mutations are correlated over the functions that have informative pairs
of both. Fewer than ten functions say nothing: their bootstrap collapses (see `summary.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from counterlens.metrics.association import pearson
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.summary import LEAST_CLUSTERS, Observation


def effect_correlations(
    observations: Iterable[Observation], *, seed: int = 0
) -> dict[tuple[str, str], Estimate]:
    """Pearson's correlation of the effects of every two mutations, with intervals over functions.

    Args:
        observations: Pairs of one model.
        seed: Of the bootstrap.

    Returns:
        For every two mutations that some function has informative pairs of, in the order of their names;
        None as value, with n, where fewer than ten functions have both, or the effect of one never changes.
    """
    effects: dict[str, dict[tuple[str, str], list[int]]] = {}
    for one in observations:
        if one.effect is not None and one.effect.informative:
            effects.setdefault(one.mutation, {}).setdefault(one.cluster, []).append(
                one.effect.mutation_effect
            )
    found = {}
    for first, second in combinations(sorted(effects), 2):
        both = [cluster for cluster in effects[first] if cluster in effects[second]]
        if both:
            pairs = [(_mean(effects[first][one]), _mean(effects[second][one])) for one in both]
            enough = len(pairs) >= LEAST_CLUSTERS
            found[first, second] = (
                pearson(pairs, seed=seed) if enough else Estimate(None, None, None, len(pairs))
            )
    return found


def _mean(values: list[int]) -> float:
    return sum(values) / len(values)
