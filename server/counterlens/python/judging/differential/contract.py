"""What a function's documentation and code say about its parameters: bounds, words, and literal values."""

from __future__ import annotations

import ast
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from counterlens.python.judging.differential.testable import FunctionNode

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
        stated = list(_stated(text, re.escape(name.lower())))
        if stated:
            bounds[name] = max(low for low, _ in stated), min(high for _, high in stated)
    return Contract(names, text, bounds, _special(node, names))


def _stated(text: str, name: str) -> Iterator[tuple[float, float]]:
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
