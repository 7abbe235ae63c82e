"""Operators that could be replaced by others of their family."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import tree_sitter

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of
from counterlens.syntax.operators import Family, OperatorSite

_OPERATIONS = ("comparison_operator", "binary_operator", "boolean_operator", "augmented_assignment")
_TEXTS = frozenset(
    {"string", "concatenated_string", "list", "tuple", "dictionary", "set", "list_comprehension"}
)
"""Operands that show that an operator is not arithmetic."""
_UNORDERED = frozenset({"string", "none", "true", "false", "dictionary"})
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


class OperatorKind(DoubtKind):
    """Operators of some families, each replaced by the other candidates at its place."""

    families: ClassVar[tuple[Family, ...]]
    further: ClassVar[tuple[str, ...]] = ()
    """Candidates beside those of the family."""

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        operations = {(node.start_byte, node.end_byte): node for node in scope.of(*_OPERATIONS)}
        for site in scope.file.operators:
            node = operations.get(site.span)
            if node is not None and site.family in self.families:
                operands = [operand for operand in node.named_children if operand.type != "comment"]
                for other in (*site.candidates, *self.further):
                    if other != site.operator and self.suits(site, operands, other):
                        yield Alternative(self.id, site.start, site.end, other)

    def suits(self, site: OperatorSite, operands: list[tree_sitter.Node], other: str) -> bool:  # noqa: ARG002
        """Whether another operator is possible between these operands."""
        return True


class WrongComparison(OperatorKind):
    """`==`, `!=`, `<`, `>`, `<=` and `>=` are replaced by each other; `is` by `is not`."""

    id = "comparison"
    families = (Family.COMPARISON, Family.IDENTITY)
    EXAMPLES = (
        DoubtExample(
            "def f(a, b):\n    return a < b\n",
            ("< -> ==", "< -> !=", "< -> >", "< -> <=", "< -> >="),
        ),
        DoubtExample("def f(a):\n    return a is None\n", ("is -> is not",)),
        DoubtExample("def f(a):\n    return a == 'x'\n", ("== -> !=",)),
        DoubtExample("def f(a):\n    return len(a) > 0\n", ("> -> ==", "> -> <=")),
    )

    def suits(self, site: OperatorSite, operands: list[tree_sitter.Node], other: str) -> bool:
        """No order of what has none, and nothing that a length makes the same or constant."""
        if other in {"<", ">", "<=", ">="} and any(operand.type in _UNORDERED for operand in operands):
            return False
        sides = [text_of(operand) for operand in operands]
        if len(sides) != 2 or not sides[0].startswith("len("):
            return True
        return _SAME.get((site.operator, other)) != sides[1] and (sides[1], other) not in _NEVER


class Arithmetic(OperatorKind):
    """`+`, `-`, `*`, `/`, `//`, `%`, `**` replace each other, if no operand is a string or a display."""

    id = "arithmetic"
    families: ClassVar[tuple[Family, ...]] = (Family.ARITHMETIC, Family.BITWISE)
    EXAMPLES = (
        DoubtExample(
            "def f(a, b):\n    return a + b\n",
            ("+ -> -", "+ -> *", "+ -> /", "+ -> //", "+ -> %", "+ -> **"),
        ),
        DoubtExample("def f(a, b):\n    return 'x' + a, '%s' % b, [a] + b\n", ()),
    )

    def suits(self, site: OperatorSite, operands: list[tree_sitter.Node], other: str) -> bool:  # noqa: ARG002
        """Only between numbers, as far as their form shows."""
        return not any(operand.type in _TEXTS for operand in operands)


class Augmented(Arithmetic):
    """`+=` and similar operators are replaced by each other, and by a plain `=`."""

    id = "augmented"
    families = (Family.AUGMENTED,)
    further = ("=",)
    EXAMPLES = (
        DoubtExample(
            "def f(a, b):\n    a += b\n    return a\n",
            ("+= -> -=", "+= -> *=", "+= -> /=", "+= -> //=", "+= -> %=", "+= -> **=", "+= -> ="),
        ),
        DoubtExample("def f(a):\n    a += 'x'\n    return a\n", ("+= -> =",)),
    )

    def suits(self, site: OperatorSite, operands: list[tree_sitter.Node], other: str) -> bool:
        """A plain assignment suits everything."""
        return other == "=" or super().suits(site, operands, other)


class Boolean(OperatorKind):
    """`and` is replaced by `or`, and `or` by `and`."""

    id = "boolean"
    families = (Family.BOOLEAN,)
    EXAMPLES = (DoubtExample("def f(a, b):\n    return a and b\n", ("and -> or",)),)


class Membership(OperatorKind):
    """`in` is replaced by `not in`, and `not in` by `in`."""

    id = "membership"
    families = (Family.MEMBERSHIP,)
    EXAMPLES = (DoubtExample("def f(a, b):\n    return a in b\n", ("in -> not in",)),)
