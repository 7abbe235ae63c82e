"""The places where a model holds and fails: the pairs of a run by file, by function and by concept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from counterlens.metrics.effects import Proportion
from counterlens.metrics.summary import EffectSummary, Observation, summaries_by

TOLD_FROM = 5
"""Minimum number of informative pairs for a share to be shown."""


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
