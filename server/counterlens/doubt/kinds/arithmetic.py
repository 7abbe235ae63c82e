"""Arithmetic and bitwise operators."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.operators import TEXTS, operators_in
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.operators import Family


class Arithmetic(DoubtKind):
    """`+`, `-`, `*`, `/`, `//`, `%`, `**` replace each other, if no operand is a string or a display."""

    id = "arithmetic"
    EXAMPLES = (
        DoubtExample(
            "def f(a, b):\n    return a + b\n",
            ("+ -> -", "+ -> *", "+ -> /", "+ -> //", "+ -> %", "+ -> **"),
        ),
        DoubtExample("def f(a, b):\n    return 'x' + a, '%s' % b, [a] + b\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        for site, node in operators_in(scope, Family.ARITHMETIC, Family.BITWISE):
            if not any(operand.type in TEXTS for operand in node.named_children):
                for other in site.candidates:
                    if other != site.operator:
                        yield Alternative(self.id, site.start, site.end, other)
