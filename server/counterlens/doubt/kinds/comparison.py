"""Comparison operators."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.operators import operators_in
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.operators import Family

_SAME = {
    (">", "!="): "0",
    ("!=", ">"): "0",
    ("==", "<="): "0",
    ("<=", "=="): "0",
    ("<", "=="): "1",
    ("==", "<"): "1",
}
"""Equivalent comparisons of a length: operators and bounds."""
_NEVER = {("0", ">="), ("0", "<"), ("1", ">"), ("1", "!="), ("1", "<=")}


class WrongComparison(DoubtKind):
    """`==`, `!=`, `<`, `>`, `<=` and `>=` are replaced by each other; `is` by `is not`."""

    id = "comparison"
    EXAMPLES = (
        DoubtExample(
            "def f(a, b):\n    return a < b\n",
            ("< -> ==", "< -> !=", "< -> >", "< -> <=", "< -> >="),
        ),
        DoubtExample("def f(a):\n    return a is None\n", ("is -> is not",)),
        DoubtExample("def f(a):\n    return a == 'x'\n", ("== -> !=",)),
        DoubtExample("def f(a):\n    return len(a) > 0\n", ("> -> ==", "> -> <=")),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        for site, node in operators_in(scope, Family.COMPARISON, Family.IDENTITY):
            operands = [operand for operand in node.named_children if operand.type != "comment"]
            unordered = any(
                operand.type in {"string", "none", "true", "false", "dictionary"} for operand in operands
            )
            sides = [(operand.text or b"").decode() for operand in operands]
            length = sides[0].startswith("len(") and len(sides) == 2
            for other in site.candidates:
                if other == site.operator or (unordered and other in {"<", ">", "<=", ">="}):
                    continue
                if length and (_SAME.get((site.operator, other)) == sides[1] or (sides[1], other) in _NEVER):
                    continue
                yield Alternative(self.id, site.start, site.end, other)
