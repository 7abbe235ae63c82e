"""Where the inputs of a function stay: what recorded calls have in common, and what its contract says."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from counterlens.python.judging.differential.contract import Contract
from counterlens.python.judging.differential.inputs import Call

_FEW = 4  # minimum number of calls for a relation between two arguments


class Domain:
    """Where inputs stay: what all recorded calls have in common, and the contract.

    Args:
        contract: What is said about the parameters.
    """

    def __init__(self, seen: Sequence[Call], contract: Contract) -> None:
        self._contract = contract
        self._least = _least(seen)
        self._relations = list(_relations(seen))
        measures = [_measures(call) for call in seen]
        self._most = {place: max(each.get(place, 0) for each in measures) for place in self._least}

    def contains(self, call: Call) -> bool:
        """Whether a call is in the domain."""
        measures, contract = _measures(call), self._contract
        for place, value in measures.items():
            name = (
                contract.names[int(place)] if place.isdigit() and int(place) < len(contract.names) else place
            )
            stated = name in contract.bounds and not _is_sized(call, place)
            if stated and not contract.allows(name, value):
                return False
            if value < self._least.get(place, value) and value not in contract.special.get(name, ()):
                return False
        return all(holds(measures) for holds in self._relations)

    def is_larger(self, call: Call) -> bool:
        """Whether an argument is larger, or longer, than those of all recorded calls."""
        return any(value > self._most.get(place, value) for place, value in _measures(call).items())


def _least(calls: Sequence[Call]) -> dict[str, float]:
    """The smallest number, or length, of each argument."""
    places = {place for call in calls for place in _measures(call)}
    least = {}
    for place in places:
        kinds = {_is_sized(call, place) for call in calls if place in _measures(call)}
        low = min(_measures(call).get(place, math.inf) for call in calls)
        if kinds == {True}:
            least[place] = low
        elif kinds == {False}:
            least[place] = 2 * low if low < 0 else min(low, 1)
    return least


def _relations(calls: Sequence[Call]) -> Iterator[Callable[[Mapping[str, float]], bool]]:
    """The order of two numbers, or lengths, that all calls have in common."""
    if len(calls) < _FEW:
        return
    every = [_measures(call) for call in calls]
    for measure, other in combinations(sorted(set.intersection(*map(set, every))), 2):
        for holds in (operator.eq, operator.le, operator.ge):
            if all(holds(measures[measure], measures[other]) for measures in every):
                yield partial(_holds, measure, other, holds)
                break


def _holds(measure: str, other: str, holds: Callable[..., bool], measures: Mapping[str, float]) -> bool:
    return measure not in measures or other not in measures or holds(measures[measure], measures[other])


def _places(call: Call) -> dict[str, Any]:
    return {f"{at:03}": value for at, value in enumerate(call.positional)} | dict(call.named)


def _is_sized(call: Call, place: str) -> bool:
    return isinstance(_places(call)[place], str | list | tuple | dict | set | frozenset)


def _measures(call: Call) -> dict[str, float]:
    """The number, or the length, of each argument."""
    measures = {}
    for place, value in _places(call).items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            measures[place] = float(value)
        elif _is_sized(call, place):
            measures[place] = float(len(value))
    return measures
