"""Decides which of two models holds more often under counterfactuals, if the data show it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from statistics import NormalDist

from counterlens.metrics.bootstrap import Estimate, bootstrap
from counterlens.metrics.significance import POWER, Counts, difference
from counterlens.metrics.summary import EffectSummary, Observation

DETECTABLE_DIFFERENCE = 0.1
"""A difference of ten percentage points: the default for the number of functions needed."""
WEAK = 0.2
"""A model with a smaller share of right originals is too weak for its effects to be meaningful."""


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """Two models on the same functions.

    Attributes:
        first: The model with the lower average mutation effect.
        second: The other model.
        difference: The second's average mutation effect minus the first's, with an interval over functions;
            several comparisons together have a level of 95 % (Bonferroni).
        needed: The approximate number of functions that would show a difference of
            `DETECTABLE_DIFFERENCE` with probability `POWER`; None if unknown.
    """

    first: str
    second: str
    difference: Estimate
    needed: int | None

    @property
    def significant(self) -> bool:
        """Whether the first holds more often beyond chance."""
        return self.difference.low is not None and self.difference.low > 0


def compare_pairwise(
    pairs: Mapping[str, Sequence[Observation]], *, seed: int = 0
) -> tuple[ModelComparison, ...]:
    """Compare every two models that have informative pairs.

    Args:
        seed: Random seed of the bootstrap.
    """
    counted = {model: counts for model, some in pairs.items() if (counts := _by_function(some))}
    compared = [*combinations(counted, 2)]
    level = 1 - 0.05 / max(1, len(compared))
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
    functions = [
        (counts.get(name, (0, 0)), other.get(name, (0, 0))) for name in dict.fromkeys([*counts, *other])
    ]
    estimate = bootstrap(functions, difference, seed=seed, level=level)
    if estimate.value is not None and estimate.value < 0:
        both, functions = both[::-1], [pair[::-1] for pair in functions]
        estimate = bootstrap(functions, difference, seed=seed, level=level)
    return ModelComparison(*both, estimate, _functions_needed(estimate, level))


def _by_function(observations: Sequence[Observation]) -> dict[Hashable, Counts]:
    """Number of informative pairs per function, and number of those whose verdict changed."""
    counts: dict[Hashable, Counts] = {}
    for observation in observations:
        if observation.effect is not None and observation.effect.informative:
            informative, changed = counts.get(observation.cluster, (0, 0))
            counts[observation.cluster] = informative + 1, changed + observation.effect.mutation_effect
    return counts


def _functions_needed(estimate: Estimate, level: float) -> int | None:
    if estimate.low is None or estimate.high is None:
        return None
    outside, power_quantile = NormalDist().inv_cdf(0.5 + level / 2), NormalDist().inv_cdf(POWER)
    error = (estimate.high - estimate.low) / (2 * outside)
    return math.ceil(estimate.n * ((outside + power_quantile) * error / DETECTABLE_DIFFERENCE) ** 2)
