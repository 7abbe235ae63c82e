"""Where the inputs of a function stay: what recorded calls share, and what its documentation says."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

from counterlens.python.judging.differential.inputs import Call
from counterlens.python.judging.differential.observed import FunctionNode

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


_NUMBER = r"(-?\d+)(?![\d.]*\w)"
_ABOVE, _BELOW = r"(?:greater|larger|more|higher) than", r"(?:less|smaller|fewer|lower) than"
_PHRASES = (  # after a name: the phrase before a number, and what it says
    (r">=|≥|(?:is |be )?at least", 0, math.inf),
    (r"<=|≤|(?:is |be )?at most", -math.inf, 0),
    (rf">|[\w ]{{0,20}}?{_ABOVE}", 1, math.inf),
    (rf"<|[\w ]{{0,20}}?{_BELOW}", -math.inf, -1),
)
_WORDS = {"positive": 1.0, "non-negative": 0.0, "nonnegative": 0.0, "natural": 0.0}


@dataclass(frozen=True)
class Contract:
    """What is said about the inputs of a function.

    Attributes:
        names: Its parameters, in order.
        text: Its documentation, in lower case.
        bounds: Smallest and largest value of a parameter.
        special: Integers with which the code compares a parameter.
    """

    names: tuple[str, ...] = ()
    text: str = ""
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    special: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def speaks_of(self, *words: str) -> bool:
        """Whether the documentation has one of some words."""
        return any(re.search(rf"\b{word}\b", self.text) for word in words)

    def allows(self, name: str, number: float) -> bool:
        """Whether a number is within the bounds of a parameter."""
        low, high = self.bounds.get(name, (-math.inf, math.inf))
        return low <= number <= high


def contract_of(node: ast.AST) -> Contract:
    """The contract of a function; an empty one of anything else."""
    if not isinstance(node, FunctionNode):
        return Contract()
    arguments = node.args
    names = tuple(each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))
    text = (ast.get_docstring(node) or "").lower()
    bounds: dict[str, tuple[float, float]] = {}
    for name in names:
        stated = list(_stated_bounds(text, re.escape(name.lower())))
        if stated:
            bounds[name] = max(low for low, _ in stated), min(high for _, high in stated)
    return Contract(names, text, bounds, _special(node, names))


def _stated_bounds(text: str, name: str) -> Iterator[tuple[float, float]]:
    """The bounds that a text gives a name."""
    for phrase, low, high in _PHRASES:
        for match in re.finditer(rf"\b{name}\s*(?:{phrase})\s*{_NUMBER}", text):
            yield low + int(match[1]), high + int(match[1])
    for match in re.finditer(rf"{_NUMBER}\s*(<=?|≤)\s*{name}\b", text):
        yield int(match[1]) + (match[2] == "<"), math.inf
    for match in re.finditer(rf"\b{name}\b(?: is| be)? between {_NUMBER} and {_NUMBER}", text):
        yield int(match[1]), int(match[2])
    for word, low in _WORDS.items():
        if re.search(rf"(?<!-)\b{word} (?:\w+ ){{0,2}}{name}\b|\b{name}(?: is| must be)? an? {word}\b", text):
            yield low, math.inf


def _special(node: ast.AST, names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    special: dict[str, list[int]] = defaultdict(list)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Compare) and isinstance(inner.left, ast.Name) and inner.left.id in names:
            special[inner.left.id] += [
                each.value
                for each in inner.comparators
                if isinstance(each, ast.Constant) and type(each.value) is int
            ]
    return {name: tuple(values) for name, values in special.items() if values}
