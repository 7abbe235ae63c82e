"""Calls like those of the tests: what the calls that tests make have in common, argument by argument."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from hypothesis import strategies as st

from counterlens.python.judging.differential.inputs import Call, Hints
from counterlens.python.judging.differential.likeness import FEW, ValueLikeness
from counterlens.python.judging.differential.shapes import Strategy

_BASES = 40  # maximum calls that are varied


class CallLikeness:
    """What some calls of one function have in common.

    Args:
        calls: At least one.
        hints: The literals of the function, which are drawn where they are like the values of the calls.
    """

    def __init__(self, calls: Sequence[Call], hints: Hints) -> None:
        self._calls, self._hints = calls, hints
        values: dict[str, list[Any]] = defaultdict(list)
        for call in calls:
            for place, value in _places(call):
                values[place].append(value)
        self._values = {place: ValueLikeness(each, hints) for place, each in values.items()}
        every = [_measures(call) for call in calls]
        self._relations = list(_relations(every)) if len(calls) >= FEW else []
        self._most = {place: max(each.get(place, 0) for each in every) for each in every for place in each}

    def departure(self, call: Call) -> str | None:
        """How a call differs from all of them, such as `negative`; None if it is like them."""
        for place, value in _places(call):
            likeness = self._values.get(place)
            way = "with another argument" if likeness is None else likeness.departure(value)
            if way is not None:
                return way
        measures = _measures(call)
        for place, other, holds in self._relations:
            if place in measures and other in measures and not holds(measures[place], measures[other]):
                return "in another proportion"
        return None

    def is_larger(self, call: Call) -> bool:
        """Whether an argument is larger, or longer, than those of all of them."""
        return any(value > self._most.get(place, value) for place, value in _measures(call).items())

    def strategy(self) -> st.SearchStrategy[Call]:
        """One of the calls, with one argument or all replaced by a value like theirs."""
        return st.one_of([self._varied(call) for call in self._calls[:_BASES]])

    def _varied(self, base: Call) -> st.SearchStrategy[Call]:
        values = dict(_places(base))
        every = {place: self._values[place].strategy for place in values}
        alone = [
            st.fixed_dictionaries({**{key: st.just(value) for key, value in values.items()}, place: each})
            for place, each in every.items()
        ]
        drawn = st.one_of([*alone, st.fixed_dictionaries(every)]).map(lambda new: _with_values(base, new))
        return drawn.flatmap(self._steps) if base.steps else drawn

    def _steps(self, base: Call) -> st.SearchStrategy[Call]:
        """The object of a call with its methods called in the same order, or in another one."""
        all_steps = [step for call in self._calls for step in call.steps]
        other = st.lists(st.sampled_from(all_steps), min_size=1, max_size=len(base.steps) + 2)
        return (st.just(base.steps) | other).flatmap(
            lambda steps: st.tuples(*[self._step(name, call) for name, call in steps]).map(
                lambda varied: replace(base, steps=varied)
            )
        )

    def _step(self, name: str, call: Call) -> Strategy:
        strategies = {place: self._values[f".{name} {place}"].strategy for place, _ in _arguments(call)}
        return st.fixed_dictionaries(strategies).map(lambda new: (name, _with_values(call, new)))


def _arguments(call: Call) -> Iterator[tuple[str, Any]]:
    yield from ((f"{at:03}", value) for at, value in enumerate(call.positional))
    yield from call.named


def _places(call: Call) -> Iterator[tuple[str, Any]]:
    """The arguments of a call, and those of the methods that follow, by place."""
    yield from _arguments(call)
    for name, step in call.steps:
        yield from ((f".{name} {place}", value) for place, value in _arguments(step))


def _with_values(call: Call, values: Mapping[str, Any]) -> Call:
    return replace(
        call,
        positional=tuple(values[f"{at:03}"] for at in range(len(call.positional))),
        named=tuple((name, values[name]) for name, _ in call.named),
    )


def _measures(call: Call) -> dict[str, float]:
    """The number, or the length, of each argument."""
    measures: dict[str, float] = {}
    for place, value in _arguments(call):
        if isinstance(value, int | float) and not isinstance(value, bool):
            measures[place] = value
        elif isinstance(value, str | bytes | list | tuple | dict | set | frozenset):
            measures[place] = len(value)
    return measures


def _relations(every: Sequence[Mapping[str, float]]) -> Iterator[tuple[str, str, Callable[..., bool]]]:
    """The order of two numbers, or lengths, that all calls have in common."""
    for place, other in combinations(sorted(set.intersection(*map(set, every))), 2):
        for holds in (operator.eq, operator.le, operator.ge):
            if all(holds(measures[place], measures[other]) for measures in every):
                yield place, other, holds
                break
