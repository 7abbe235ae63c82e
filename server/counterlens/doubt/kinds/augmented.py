"""Augmented assignments."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.operators import TEXTS, operators_in
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.operators import Family


class Augmented(DoubtKind):
    """`+=` and similar operators are replaced by each other, and by a plain `=`."""

    id = "augmented"
    EXAMPLES = (
        DoubtExample(
            "def f(a, b):\n    a += b\n    return a\n",
            ("+= -> -=", "+= -> *=", "+= -> /=", "+= -> //=", "+= -> %=", "+= -> **=", "+= -> ="),
        ),
        DoubtExample("def f(a):\n    a += 'x'\n    return a\n", ("+= -> =",)),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        for site, node in operators_in(scope, Family.AUGMENTED):
            text = any(operand.type in TEXTS for operand in node.named_children)
            for other in (*site.candidates, "="):
                if other != site.operator and (not text or other == "="):
                    yield Alternative(self.id, site.start, site.end, other)
