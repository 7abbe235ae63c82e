"""Effects of many pairs: size, direction, uncertainty and concept (Hooda et al. 2024, section 4.3).

Also the places where a model holds and fails: the pairs of a run by file, by function and by concept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import comb

from counterlens.metrics.effects import Effect, Proportion, average_mutation_effect, pooled_share

INDEPENDENT = "wilson"
CLUSTERED = "wilson on the effective sample size"
TOLD_FROM = 5
"""Minimum number of informative pairs for a share to be shown."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One counterfactual pair.

    Attributes:
        effect: The effect; None if a side could not be judged.
        mutation: The change.
        concept: The concept that it perturbs.
        file: The file or problem.
        original: The function's original that it belongs to, such as its cut: pairs of one original share its
            completion. None if each pair has its own.
        discriminating: Whether a copied completion would fail; None if unknown.
        copied: Whether the model wrote the same code on both sides, although different code was expected.
        stable: Whether the verdicts hold for every choice that rounding may make; None if unknown.
        contested: Whether a side passes, but does otherwise than the original on an input.
    """

    effect: Effect | None
    mutation: str
    concept: str
    function: str
    file: str
    original: int | None = None
    discriminating: bool | None = None
    copied: bool = False
    stable: bool | None = None
    contested: bool = False

    @property
    def cluster(self) -> tuple[str, str]:
        """The function: its pairs are correlated, so they count less than as many independent ones."""
        return self.file, self.function


@dataclass(frozen=True, slots=True)
class Discriminating:
    """The summary of the discriminating pairs.

    Attributes:
        pairs: Number of discriminating pairs.
        classified: Number of pairs of which it is known whether they are.
        average: Average mutation effect over the informative ones.
        copied: Share of pairs with the same code on both sides.
    """

    pairs: int
    classified: int
    average: Proportion
    copied: Proportion


@dataclass(frozen=True, slots=True)
class StableVerdicts:
    """The summary of the stable pairs.

    Attributes:
        share: Share of stable pairs, among the informative ones for which this is known.
        average: Average mutation effect over the stable pairs.
    """

    share: Proportion
    average: Proportion


@dataclass(frozen=True, slots=True)
class UncontestedPasses:
    """The summary of the pairs whose passes are uncontested.

    Attributes:
        contested: Share of pairs with a contested pass, among the informative ones.
        average: Average mutation effect over the others.
    """

    contested: Proportion
    average: Proportion


@dataclass(frozen=True, slots=True)
class EffectSummary:
    """The summary of some pairs.

    Attributes:
        pairs: Number of pairs.
        unjudged: Number of pairs with a side that could not be judged.
        uninformative: Number of judged pairs where both completions fail; the paper discards them.
        average: Average mutation effect over the informative pairs, with its 95 % interval.
        method: The method of the interval: `INDEPENDENT`, or `CLUSTERED` if there are several functions, some
            with several pairs.
        signed: Mean of A(counterfactual) - A(original) over the informative pairs, in [-1, 1].
        lost: Number of pairs where only the original is right.
        gained: Number of pairs where only the counterfactual is right.
        p: p value of `sign_flip_exact` over functions: are losing and gaining equally likely? None without
            either.
        original_accuracy: Share of the originals of judged pairs that were completed correctly, each counted
            once, whatever its number of counterfactuals.
        functions: Number of functions with informative pairs.
        discriminating: The same for discriminating pairs; None if it is unknown for all pairs, for example
            because nothing is cut.
        stable: The same for pairs with stable verdicts; None if it is unknown for all informative pairs.
        uncontested: The same for pairs whose passes are uncontested; None if there are no informative pairs.
    """

    pairs: int
    unjudged: int
    uninformative: int
    average: Proportion
    method: str
    signed: float | None
    lost: int
    gained: int
    p: float | None
    original_accuracy: Proportion
    functions: int
    discriminating: Discriminating | None = None
    stable: StableVerdicts | None = None
    uncontested: UncontestedPasses | None = None


def summarize(observations: Iterable[Observation]) -> EffectSummary:
    """Summarise pairs.

    The intervals are Wilson's with the effective sample size, because the pairs of one function are
    correlated. The pairs of a single function describe that function alone.
    """
    seen = list(observations)
    judged = [(pair.cluster, pair.effect) for pair in seen if pair.effect is not None]
    informative = [(cluster, effect) for cluster, effect in judged if effect.informative]
    lost = sum(effect.signed < 0 for _, effect in informative)
    gained = sum(effect.signed > 0 for _, effect in informative)
    functions = len({cluster for cluster, _ in informative})
    return EffectSummary(
        pairs=len(seen),
        unjudged=len(seen) - len(judged),
        uninformative=len(judged) - len(informative),
        average=average_mutation_effect(
            (effect for _, effect in informative), (cluster for cluster, _ in informative)
        ),
        method=INDEPENDENT if functions in (1, len(informative)) else CLUSTERED,
        signed=(gained - lost) / len(informative) if informative else None,
        lost=lost,
        gained=gained,
        p=sign_flip_exact(informative),
        original_accuracy=pooled_share(originals(seen)),
        functions=functions,
        discriminating=_discriminating(seen),
        stable=_stable(seen),
        uncontested=_uncontested_passes(seen),
    )


def _discriminating(seen: Iterable[Observation]) -> Discriminating | None:
    effects = [
        (pair, pair.effect) for pair in seen if pair.discriminating is not None and pair.effect is not None
    ]
    discriminating = [(pair, effect) for pair, effect in effects if pair.discriminating]
    if not effects:
        return None
    return Discriminating(
        pairs=len(discriminating),
        classified=len(effects),
        average=average_mutation_effect(
            (effect for _, effect in discriminating), (pair.cluster for pair, _ in discriminating)
        ),
        copied=pooled_share((pair.cluster, pair.copied) for pair, _ in discriminating),
    )


def _stable(seen: Iterable[Observation]) -> StableVerdicts | None:
    effects = [
        (pair, pair.effect)
        for pair in seen
        if pair.stable is not None and pair.effect is not None and pair.effect.informative
    ]
    if not effects:
        return None
    held = [(pair.cluster, effect) for pair, effect in effects if pair.stable]
    return StableVerdicts(
        share=pooled_share((pair.cluster, bool(pair.stable)) for pair, _ in effects),
        average=average_mutation_effect((effect for _, effect in held), (cluster for cluster, _ in held)),
    )


def _uncontested_passes(seen: Iterable[Observation]) -> UncontestedPasses | None:
    informative = [
        (pair, pair.effect) for pair in seen if pair.effect is not None and pair.effect.informative
    ]
    if not informative:
        return None
    others = [(pair.cluster, effect) for pair, effect in informative if not pair.contested]
    return UncontestedPasses(
        contested=pooled_share((pair.cluster, pair.contested) for pair, _ in informative),
        average=average_mutation_effect((effect for _, effect in others), (name for name, _ in others)),
    )


def originals(seen: Iterable[Observation]) -> list[tuple[tuple[str, str], bool]]:
    """The distinct originals of judged pairs: the function of each, and whether its completion is right."""
    right = {
        (pair.cluster, number if pair.original is None else f"at {pair.original}"): pair.effect.original
        for number, pair in enumerate(seen)
        if pair.effect is not None
    }
    return [(cluster, value) for (cluster, _), value in right.items()]


def completions(seen: Iterable[Observation]) -> list[tuple[tuple[str, str], bool]]:
    """The completions of judged pairs: the function of each, and whether it is right.

    An original counts once, whatever its number of counterfactuals.
    """
    pairs = list(seen)
    return originals(pairs) + [
        (pair.cluster, pair.effect.counterfactual) for pair in pairs if pair.effect is not None
    ]


def summaries_by(
    observations: Iterable[Observation], key: Callable[[Observation], str]
) -> dict[str, EffectSummary]:
    """The summaries of groups of pairs, in the order in which the groups first occur.

    Args:
        key: The group of a pair, such as its mutation.
    """
    groups: dict[str, list[Observation]] = {}
    for pair in observations:
        groups.setdefault(key(pair), []).append(pair)
    return {name: summarize(members) for name, members in groups.items()}


def mcnemar_exact(lost: int, gained: int) -> float | None:
    """The two-sided exact McNemar test: p of a split at least as uneven, with both directions equally likely.

    Args:
        lost: Number of pairs where only the original is right.
        gained: Number of pairs where only the counterfactual is right.

    Returns:
        The p value; None if no pair changed its verdict.
    """
    changed = lost + gained
    if not changed:
        return None
    tail = sum(comb(changed, k) for k in range(min(lost, gained) + 1))
    return min(1.0, 2 * tail / (1 << changed))


def sign_flip_exact(pairs: Iterable[tuple[Hashable, Effect]]) -> float | None:
    """The two-sided exact test over clusters: p of a balance at least as uneven, with either sign as likely.

    The pairs of one cluster are correlated, so only the sign of its whole balance is random (Fisher's
    randomisation test). With one changed pair per cluster it is McNemar's exact test.

    Args:
        pairs: Effects, each with its cluster.

    Returns:
        The p value; None if no pair changed its verdict.
    """
    balances, changed = Counter[Hashable](), False
    for cluster, effect in pairs:
        balances[cluster] += effect.signed
        changed = changed or effect.signed != 0
    if not changed:
        return None
    ways = Counter({0: 1})  # of signs, by the sum of all balances
    for balance in filter(None, map(abs, balances.values())):
        more = Counter[int]()
        for total, count in ways.items():
            more[total + balance] += count
            more[total - balance] += count
        ways = more
    observed = abs(balances.total())
    return sum(count for total, count in ways.items() if abs(total) >= observed) / ways.total()


@dataclass(frozen=True, slots=True)
class Place:
    """The summary of the pairs of a file, a function, or one concept in a file.

    Attributes:
        name: The file, or `FILE::FUNCTION`.
        mutations: Mutations that changed a verdict, most frequent first.
    """

    name: str
    summary: EffectSummary
    mutations: tuple[str, ...]

    @property
    def held(self) -> Proportion:
        """The share of the informative pairs whose verdict stayed."""
        return self.summary.average.complement

    @property
    def lost(self) -> int:
        """Number of lost right verdicts."""
        return self.summary.lost


def file_of(pair: Observation) -> str:
    """The file of a pair; empty for a pair of a dataset, which has problems instead."""
    return pair.file.partition("::")[0] if "::" in pair.file else ""


def by_file(pairs: Iterable[Observation]) -> list[Place]:
    """The files of a repository with informative pairs, most lost verdicts first."""
    return _places([pair for pair in pairs if file_of(pair)], by_function=False)


def by_function(pairs: Iterable[Observation]) -> list[Place]:
    """The functions with informative pairs, most lost verdicts first."""
    return _places(list(pairs), by_function=True)


def by_concept(pairs: Iterable[Observation]) -> dict[str, dict[str, Proportion]]:
    """The share held in each file, by concept."""
    files: dict[str, list[Observation]] = {}
    for pair in pairs:
        if name := file_of(pair):
            files.setdefault(name, []).append(pair)
    return {
        name: {
            concept: summary.average.complement
            for concept, summary in summaries_by(some, lambda pair: pair.concept).items()
            if summary.average.n
        }
        for name, some in files.items()
    }


def _places(pairs: Sequence[Observation], *, by_function: bool) -> list[Place]:
    def key(pair: Observation) -> str:
        return pair.file if by_function else file_of(pair)

    changed: dict[str, Counter[str]] = {}
    for pair in pairs:
        if pair.effect is not None and pair.effect.mutation_effect:
            changed.setdefault(key(pair), Counter())[pair.mutation] += 1
    places = [
        Place(name, summary, tuple(mutation for mutation, _ in changed.get(name, Counter()).most_common()))
        for name, summary in summaries_by(pairs, key).items()
        if summary.average.n
    ]
    return sorted(places, key=lambda place: (-place.lost, place.held.value or 0.0, place.name))
