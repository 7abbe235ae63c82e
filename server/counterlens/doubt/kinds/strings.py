"""Strings in each other's place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope, is_docstring
from counterlens.syntax.definitions import text_of

_APART = 300
"""Maximum distance of two strings that are swapped, in bytes."""
_NEIGHBOURS = 3
"""A string is swapped with at most so many that follow."""
_MOST = 12
"""Maximum number of strings that replace each other."""


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
        """See the class."""
        strings = [
            node
            for node in scope.file.nodes
            if node.type == "string"
            and scope.start <= node.start_byte < scope.function.end
            and not (node.parent is not None and is_docstring(node.parent))
            and not any(child.type == "interpolation" for child in node.named_children)
        ]
        for at, first in enumerate(strings):
            for second in strings[at + 1 : at + 1 + _NEIGHBOURS]:
                text, other = text_of(first), text_of(second)
                near = second.start_byte - first.end_byte <= _APART
                if text != other and near and not first.end_byte > second.start_byte:
                    between = scope.text(first.end_byte, second.start_byte)
                    yield Alternative(
                        self.id,
                        first.start_byte,
                        second.end_byte,
                        f"{other}{between}{text}",
                        question=f"are {text} and {other} swapped?" if "\n" in between else "",
                    )
        for first, second in combinations(strings[:_MOST], 2):
            text, other = text_of(first), text_of(second)
            if text != other and second.start_byte - first.end_byte <= _APART:
                yield self.instead(first, other)
                yield self.instead(second, text)
