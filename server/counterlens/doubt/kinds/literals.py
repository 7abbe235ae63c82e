"""Literals: numbers and bounds that are off by one, truth values, and strings in each other's place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import combinations

import tree_sitter

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of

_NUMBER = re.compile(r"\d+|\d+\.\d+")
_LARGEST = 100
_DISPLAYS = frozenset({"list", "tuple", "dictionary", "set", "pair", "unary_operator", "keyword_argument"})
_OPPOSITE = {"true": "False", "false": "True"}
_SIMPLE = frozenset({"identifier", "call", "attribute", "subscript"})
_APART = 300
"""Maximum distance of two strings that are swapped, in bytes."""
_NEIGHBOURS = 3
"""A string is swapped with at most so many that follow."""
_MOST = 12
"""Maximum number of strings that replace each other."""


class Boundary(DoubtKind):
    """A small number is replaced by its neighbours, 0, 1 and -1; a bound by one more or one less.

    For failing tests, also a large or fractional number, one in a display, and one in a default.
    """

    id = "boundary"
    EXAMPLES = (
        DoubtExample("def f(a):\n    return a == 0\n", ("0 -> 1", "0 -> -1")),
        DoubtExample("def f(a):\n    return g(a, 7)\n", ("7 -> 6", "7 -> 8", "7 -> 0", "7 -> 1")),
        DoubtExample("def f(a, i):\n    return a[i]\n", ("i -> i + 1", "i -> i - 1")),
        DoubtExample("def f(a, i):\n    return a[i + 1]\n", ("i + 1 -> i", "1 -> 0", "1 -> 2", "+ 1 -> - 1")),
        DoubtExample("def f(n):\n    return range(n)\n", ("n -> n + 1", "n -> n - 1")),
        DoubtExample(
            "def f(a):\n    return [5], a / 500\n", ("5 -> 4", "5 -> 6", "500 -> 499", "500 -> 501")
        ),
        DoubtExample(
            "def f(a, n=3):\n    return a + 1.5\n", ("3 -> 2", "3 -> 4", "1.5 -> 0.5", "1.5 -> 2.5")
        ),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        for node in scope.of("integer"):
            yield from self._number(node)
        for node in (*scope.of("float"), *scope.defaults):
            if _NUMBER.fullmatch(text_of(node)):
                yield from self._neighbours(node)
        for node in scope.of("binary_operator"):
            yield from self._one_more(node)
        for node in scope.of("subscript", "slice", "argument_list"):
            for bound in _bounds(node):
                if bound.type in _SIMPLE:
                    for other in ("+ 1", "- 1"):
                        yield self.instead(bound, f"{text_of(bound)} {other}")

    def _number(self, node: tree_sitter.Node) -> Iterator[Alternative]:
        parent = node.parent
        if not text_of(node).isdecimal() or parent is None:
            return
        value = int(text_of(node))
        if parent.type in _DISPLAYS or value > _LARGEST:
            yield from self._neighbours(node)
            return
        others = [value - 1, value + 1, 0, 1] + [-1] * (value < 2)
        added = parent.type == "binary_operator" and parent.children[1].type in {"+", "-"}
        for other in dict.fromkeys(others):
            if other != value and not (added and other < 0):
                yield self.instead(node, str(other))

    def _neighbours(self, node: tree_sitter.Node) -> Iterator[Alternative]:
        value = Decimal(text_of(node))
        for other in (value - 1, value + 1):
            if other >= 0:
                yield self.instead(node, str(other), refuted=True)

    def _one_more(self, node: tree_sitter.Node) -> Iterator[Alternative]:
        """`x + 1` without the `+ 1`, or with the other sign."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None or text_of(right) != "1":
            return
        if operator.type in {"+", "-"}:
            yield self.instead(node, text_of(left))
            sign = "-" if operator.type == "+" else "+"
            yield Alternative(self.id, operator.start_byte, right.end_byte, f"{sign} 1")


def _bounds(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """The expressions that specify a beginning or an end."""
    if node.type == "subscript":
        return [index for index in node.children_by_field_name("subscript") if index.type == "identifier"]
    if node.type == "slice":
        return list(node.named_children)
    called = node.parent.child_by_field_name("function") if node.parent is not None else None
    return list(node.named_children) if called is not None and text_of(called) == "range" else []


class WrongConstant(DoubtKind):
    """`True` is replaced by `False`, and `False` by `True`; for failing tests, also in a default."""

    id = "constant"
    EXAMPLES = (
        DoubtExample("def f(a, b=False):\n    return g(a, True)\n", ("False -> True", "True -> False")),
        DoubtExample("def f(a):\n    return a is None\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        for node in scope.of("true", "false"):
            yield self.instead(node, _OPPOSITE[node.type])
        for node in scope.defaults:
            if node.type in _OPPOSITE:
                yield self.instead(node, _OPPOSITE[node.type], refuted=True)


class SwappedStrings(DoubtKind):
    """Two strings of a function are swapped, or one of them is replaced by another."""

    id = "strings"
    EXAMPLES = (
        DoubtExample(
            "def f(a):\n    return a.replace('x', 'y')\n",
            ("'x', 'y' -> 'y', 'x'", "'x' -> 'y'", "'y' -> 'x'"),
        ),
        DoubtExample("def f(a):\n    '''Doc.'''\n    return a + 'x'\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        strings = scope.strings
        for at, first in enumerate(strings):
            for second in strings[at + 1 : at + 1 + _NEIGHBOURS]:
                text, other = text_of(first), text_of(second)
                near = second.start_byte - first.end_byte <= _APART
                if text != other and near and not first.end_byte > second.start_byte:
                    apart = "\n" in scope.text(first.end_byte, second.start_byte)
                    yield Alternative(
                        self.id,
                        first.start_byte,
                        second.end_byte,
                        scope.swap(first, second),
                        question=f"are {text} and {other} swapped?" if apart else "",
                    )
        for first, second in combinations(strings[:_MOST], 2):
            text, other = text_of(first), text_of(second)
            if text != other and second.start_byte - first.end_byte <= _APART:
                yield self.instead(first, other)
                yield self.instead(second, text)
