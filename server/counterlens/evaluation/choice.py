"""Which of several models is right most often: one of them, or how many functions more would tell.

A completion counts if it is right, whether it is that of an original or of a counterfactual: a model that
writes little right holds little that is worth holding. Models are compared over the functions that all of
them were asked about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from counterlens.evaluation.effects import observations_of
from counterlens.evaluation.results import RunResults
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Proportion, pooled_share
from counterlens.metrics.significance import (
    DETECTABLE_DIFFERENCE,
    DISCORDANT,
    ModelComparison,
    compare_pairwise,
    functions_needed,
)
from counterlens.metrics.summary import Observation, completions

_LEAST_DIFFERENCE = 0.02
"""No number of functions is given for a smaller difference: it would hardly matter."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Which model to choose.

    Attributes:
        best: The model with the largest share of right completions; None if none is right, or if no function
            was asked of all models.
        rivals: The models that may be as good; if there are none, the best one is told.
        right: The share of right completions of each model, best first.
        differences: The share of the best model minus that of each other one, over functions.
        functions: Number of functions that were asked of all models.
        more: About how many more would tell the best model from its rivals; None if none are needed, or if
            the difference is too small for any number that is worth asking.
        seconds: About the time of these; None if unknown.
    """

    best: str | None
    rivals: tuple[str, ...]
    right: Mapping[str, Proportion]
    differences: Mapping[str, Estimate]
    functions: int
    more: int | None
    seconds: float | None

    @property
    def decided(self) -> bool:
        """Whether the best model is right more often than each other one, beyond chance."""
        return self.best is not None and not self.rivals


def model_choice(
    pairs: Mapping[str, Sequence[Observation]],
    *,
    seed: int = 0,
    family: int = 1,
    seconds: float | None = None,
) -> ModelChoice:
    """Choose between two models or more.

    Args:
        pairs: The pairs of each model.
        seed: Random seed of the intervals.
        family: Number of comparisons that are read together, if there are more than these.
        seconds: The time of one function of one model.
    """
    own = [{pair.cluster for pair in some if pair.effect is not None} for some in pairs.values()]
    common = set.intersection(*own)
    shared = {model: [pair for pair in some if pair.cluster in common] for model, some in pairs.items()}
    right = {model: pooled_share(completions(some)) for model, some in shared.items()}
    right = dict(sorted(right.items(), key=lambda entry: -(entry[1].value or 0.0)))
    best = next(iter(right))
    if not right[best].count:
        return ModelChoice(None, tuple(right), right, {}, len(common), None, None)
    others: dict[str, ModelComparison] = {}
    for comparison in compare_pairwise(shared, seed=seed, family=family):
        if best in {comparison.first, comparison.second}:
            other = comparison.second if comparison.first == best else comparison.first
            others[other] = comparison
    rivals = tuple(model for model in right if model in others and not others[model].significant)
    needed = [_functions_left(others[model]) for model in rivals]
    more = max((functions for functions in needed if functions is not None), default=None)
    return ModelChoice(
        best,
        rivals,
        right,
        {model: others[model].difference for model in right if model in others},
        len(common),
        more,
        None if more is None or seconds is None else more * seconds * len(pairs),
    )


def choice_in(part: RunResults) -> ModelChoice | None:
    """Which model of a run of one task to choose; None if it has fewer than two, or no judged pair."""
    pairs = observations_of(part)
    if len(pairs) < 2 or not any(pair.effect for some in pairs.values() for pair in some):
        return None
    pace = part.elapsed / len(part.records) if part.records and part.elapsed else None
    return model_choice(pairs, seed=part.settings.seed, seconds=pace)


def _functions_left(comparison: ModelComparison) -> int | None:
    """How many functions more would tell two models apart; None if no number is worth asking.

    They would show the difference seen so far, or one of `DETECTABLE_DIFFERENCE` if that is larger; if that
    many were asked already, the difference is smaller.
    """
    seen = abs(comparison.difference.value or 0.0)
    for target in (max(seen, DETECTABLE_DIFFERENCE), seen):
        if target < _LEAST_DIFFERENCE:
            return None
        needed = (
            functions_needed(min(target, DISCORDANT))
            if comparison.needed is None
            else math.ceil(comparison.needed * (DETECTABLE_DIFFERENCE / target) ** 2)
        )
        if needed > comparison.difference.n:
            return needed - comparison.difference.n
    return 1
