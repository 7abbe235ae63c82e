"""Effects of many pairs: how large, which way, how sure, and of what (Hooda et al. 2024, section 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import comb

from counterlens.metrics.bootstrap import bootstrap
from counterlens.metrics.effects import Effect, Proportion, average_mutation_effect, wilson

RESAMPLES = 2000
LEAST_CLUSTERS = 10
"""Functions with informative pairs from which on the interval is a bootstrap over functions."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One counterfactual pair.

    Attributes:
        effect: None where a side could not be judged.
        mutation: What was done.
        concept: What it perturbs.
        function: Where.
        file: In which file or problem.
    """

    effect: Effect | None
    mutation: str
    concept: str
    function: str
    file: str

    @property
    def cluster(self) -> tuple[str, str]:
        """Pairs of one function are alike, so they are resampled together."""
        return self.file, self.function


@dataclass(frozen=True, slots=True)
class EffectSummary:
    """What some pairs say together.

    Attributes:
        pairs: How many there are.
        unjudged: Pairs of which a side could not be judged.
        uninformative: Judged pairs where both completions fail; the paper discards them.
        average: The average mutation effect over the informative pairs, with its 95 % interval.
        method: Where the interval comes from: `wilson`, or `bootstrap over functions`.
        signed: The mean of A(counterfactual) - A(original) over the informative pairs, in [-1, 1].
        lost: Pairs where only the original was right.
        gained: Pairs where only the counterfactual was.
        mcnemar: p of McNemar's exact test that losing and gaining are equally likely; None without either.
        original_accuracy: Share of the judged pairs whose original completion was right.
        functions: How many functions the informative pairs come from.
    """

    pairs: int
    unjudged: int
    uninformative: int
    average: Proportion
    method: str
    signed: float | None
    lost: int
    gained: int
    mcnemar: float | None
    original_accuracy: Proportion
    functions: int


def summarize(
    observations: Iterable[Observation], *, seed: int = 0, resamples: int = RESAMPLES
) -> EffectSummary:
    """Sum up pairs.

    The interval of the average is Wilson's while the informative pairs come from fewer than ten functions: a
    bootstrap of so few collapses to a point. From ten on it is the percentile bootstrap that draws whole
    functions, because the pairs of one function are not independent.

    Args:
        observations: The pairs.
        seed: Of the bootstrap.
        resamples: How often to draw.
    """
    seen = list(observations)
    judged = [one.effect for one in seen if one.effect is not None]
    informative = [effect for effect in judged if effect.informative]
    lost = sum(effect.signed < 0 for effect in informative)
    gained = sum(effect.signed > 0 for effect in informative)
    clusters = _clusters(seen)
    average, method = average_mutation_effect(informative), "wilson"
    if len(clusters) >= LEAST_CLUSTERS:
        drawn = bootstrap(clusters, _changed, seed=seed, resamples=resamples)
        average, method = replace(average, low=drawn.low, high=drawn.high), "bootstrap over functions"
    return EffectSummary(
        pairs=len(seen),
        unjudged=len(seen) - len(judged),
        uninformative=len(judged) - len(informative),
        average=average,
        method=method,
        signed=(gained - lost) / len(informative) if informative else None,
        lost=lost,
        gained=gained,
        mcnemar=mcnemar_exact(lost, gained),
        original_accuracy=wilson(sum(effect.original for effect in judged), len(judged)),
        functions=len(clusters),
    )


def grouped(
    observations: Iterable[Observation], key: Callable[[Observation], str], *, seed: int = 0
) -> dict[str, EffectSummary]:
    """The summaries of groups of pairs, in the order in which the groups first occur.

    Args:
        observations: The pairs.
        key: The group of a pair, such as its mutation.
        seed: Of the bootstrap.
    """
    groups: dict[str, list[Observation]] = {}
    for one in observations:
        groups.setdefault(key(one), []).append(one)
    return {name: summarize(members, seed=seed) for name, members in groups.items()}


def mcnemar_exact(lost: int, gained: int) -> float | None:
    """The two-sided exact McNemar test: p of a split at least as uneven if both ways were equally likely.

    Args:
        lost: Pairs where only the original was right.
        gained: Pairs where only the counterfactual was.

    Returns:
        None where no pair changed its verdict.
    """
    changed = lost + gained
    if not changed:
        return None
    tail = sum(comb(changed, k) for k in range(min(lost, gained) + 1))
    return min(1.0, 2 * tail / (1 << changed))


def _clusters(seen: Sequence[Observation]) -> list[tuple[int, int]]:
    """Of each function: how many informative pairs changed their verdict, and how many there are."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for one in seen:
        if one.effect is not None and one.effect.informative:
            changed, n = counts.get(one.cluster, (0, 0))
            counts[one.cluster] = changed + one.effect.mutation_effect, n + 1
    return list(counts.values())


def _changed(clusters: Sequence[tuple[int, int]]) -> float | None:
    n = sum(pairs for _, pairs in clusters)
    return sum(changed for changed, _ in clusters) / n if n else None
