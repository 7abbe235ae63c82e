"""The correlation of a model's errors between mutations (Hooda et al. 2024, Figure 4).

The unit is a function, because the pairs of one are correlated: its value for a mutation is the mean effect
of its informative pairs. Two mutations are correlated over the functions with informative pairs of both.
Fewer than ten functions show nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from counterlens.metrics.association import pearson
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.summary import Observation

LEAST_FUNCTIONS = 10


def effect_correlations(
    observations: Iterable[Observation], *, seed: int = 0
) -> dict[tuple[str, str], Estimate]:
    """Pearson's correlation of the effects of every two mutations, with intervals over functions.

    Args:
        observations: The pairs of one model.
        seed: Random seed of the bootstrap.

    Returns:
        For every two mutations for which some function has informative pairs, sorted by name; the value is
        None, with n, if fewer than ten functions have both, or one of the effects is constant.
    """
    effects: dict[str, dict[tuple[str, str], list[int]]] = {}
    for pair in observations:
        if pair.effect is not None and pair.effect.informative:
            of_mutation = effects.setdefault(pair.mutation, {})
            of_mutation.setdefault(pair.cluster, []).append(pair.effect.mutation_effect)
    correlations = {}
    for first, second in combinations(sorted(effects), 2):
        both = [cluster for cluster in effects[first] if cluster in effects[second]]
        if both:
            pairs = [(_mean(effects[first][cluster]), _mean(effects[second][cluster])) for cluster in both]
            enough = len(pairs) >= LEAST_FUNCTIONS
            correlations[first, second] = (
                pearson(pairs, seed=seed) if enough else Estimate(None, None, None, len(pairs))
            )
    return correlations


def _mean(values: list[int]) -> float:
    return sum(values) / len(values)
