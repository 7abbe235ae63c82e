"""A wrong index or key."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.kinds.variable import index_of
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of


class WrongIndex(DoubtKind):
    """A variable in brackets is replaced by a loop variable, or by one used in brackets elsewhere."""

    id = "index"
    EXAMPLES = (
        DoubtExample(
            "def f(a):\n    for i in a:\n        for j in a:\n            g(a[i])\n",
            ("i -> j",),
        ),
        DoubtExample("def f(a, b, i):\n    return a[i]\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        places = [node for node in scope.uses() if index_of(node)]
        likely = {text_of(node) for node in places} | scope.loops
        for node in places:
            for other, bound in scope.variables.items():
                if other != text_of(node) and other in likely and bound < node.start_byte:
                    yield self.instead(node, other)
