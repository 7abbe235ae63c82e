"""Operators that could be replaced by others of their family."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

import tree_sitter

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.operand_types import OperandType, operand_type
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of
from counterlens.syntax.operators import Family, OperatorSite

_OPERATIONS = ("comparison_operator", "binary_operator", "boolean_operator", "augmented_assignment")
_NOT_NUMBERS = frozenset({OperandType.TEXT, OperandType.SEQUENCE, OperandType.MAPPING})
_WITHOUT_ORDER = frozenset({OperandType.MAPPING})
_OF_SETS = frozenset({"&", "|", "-", "^"})
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

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        operations = {(node.start_byte, node.end_byte): node for node in scope.of(*_OPERATIONS)}
        for site in scope.file.operators:
            node = operations.get(site.span)
            if node is not None and site.family in self.families:
                operands = [operand for operand in node.named_children if operand.type != "comment"]
                for other in self.candidates(scope, site, operands):
                    if other != site.operator:
                        refuted = self.is_far(scope, site, operands, other)
                        yield Alternative(self.id, site.start, site.end, other, refuted=refuted)

    def is_far(
        self,
        scope: DoubtScope,  # noqa: ARG002 - as below
        site: OperatorSite,  # noqa: ARG002
        operands: list[tree_sitter.Node],  # noqa: ARG002
        other: str,  # noqa: ARG002
    ) -> bool:
        """Whether only failing tests make a candidate worth a trial."""
        return False

    def candidates(
        self,
        scope: DoubtScope,  # noqa: ARG002 - others look at the types of the operands
        site: OperatorSite,
        operands: list[tree_sitter.Node],  # noqa: ARG002
    ) -> Iterable[str]:
        """The operators that are possible between these operands."""
        return site.candidates


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
        DoubtExample("def f(a: dict, b):\n    return a == b\n", ("== -> !=",)),
        DoubtExample("def f(a):\n    return len(a) > 0\n", ("> -> ==", "> -> <=")),
    )

    def candidates(
        self, scope: DoubtScope, site: OperatorSite, operands: list[tree_sitter.Node]
    ) -> Iterable[str]:
        """No order of what has none, and nothing that a length makes the same or constant."""
        unordered = any(
            operand.type in _UNORDERED or operand_type(scope, operand) in _WITHOUT_ORDER
            for operand in operands
        )
        sides = [text_of(operand) for operand in operands]
        of_length = len(sides) == 2 and sides[0].startswith("len(")
        for other in site.candidates:
            if unordered and other in {"<", ">", "<=", ">="}:
                continue
            if of_length and (_SAME.get((site.operator, other)) == sides[1] or (sides[1], other) in _NEVER):
                continue
            yield other


class Arithmetic(OperatorKind):
    """Operators of numbers replace each other, and those of sets: each in its family, by the operands' types.

    `+`, `-`, `*`, `/`, `//`, `%`, `**` are a family; so are `&`, `|`, `^`, `<<`, `>>` and, between sets, `&`,
    `|`, `-`, `^`. If nothing shows that the operands of `&`, `|` or `^` are numbers, they may be sets.
    """

    id = "arithmetic"
    families: ClassVar[tuple[Family, ...]] = (Family.ARITHMETIC, Family.BITWISE)
    EXAMPLES: ClassVar[tuple[DoubtExample, ...]] = (
        DoubtExample(
            "def f(a, b):\n    return a + b\n",
            ("+ -> -", "+ -> *", "+ -> /", "+ -> //", "+ -> %", "+ -> **"),
        ),
        DoubtExample("def f(a, b):\n    return 'x' + a, '%s' % b, [a] + b\n", ()),
        DoubtExample("def f(a, b):\n    return set(a) & b\n", ("& -> |", "& -> -", "& -> ^")),
        DoubtExample("def f(a, b):\n    return a | b\n", ("| -> &", "| -> -", "| -> ^")),
        DoubtExample("def f(a):\n    b = a.keys()\n    return b - a\n", ("- -> &", "- -> |", "- -> ^")),
        DoubtExample("def f(a):\n    return a & 7\n", ("& -> |", "& -> ^", "& -> <<", "& -> >>")),
        DoubtExample("def f(a: str, b):\n    c = []\n    return a + b, c + b\n", ()),
        DoubtExample("def f(a, b):\n    return (a > b) & (a != b)\n", ("& -> |", "& -> ^")),
    )

    def candidates(
        self, scope: DoubtScope, site: OperatorSite, operands: list[tree_sitter.Node]
    ) -> Iterable[str]:
        """Those of the family of the operands, as far as their types are known."""
        types = {operand_type(scope, operand) for operand in operands} - {None}
        if types & _NOT_NUMBERS:
            return ()
        sign = "=" if site.family is Family.AUGMENTED else ""
        bits = site.operator.removesuffix(sign) in _OF_SETS - {"-"}
        if OperandType.SET in types:
            family = _OF_SETS
        elif bits and types == {OperandType.TRUTH}:
            family = _OF_SETS - {"-"}
        elif bits and OperandType.NUMBER not in types:
            family = _OF_SETS
        else:
            return site.candidates
        return sorted(f"{operator}{sign}" for operator in family)

    def is_far(
        self, scope: DoubtScope, site: OperatorSite, operands: list[tree_sitter.Node], other: str
    ) -> bool:
        """A difference in place of `&`, where nothing shows that the operands are sets."""
        sets = any(operand_type(scope, operand) is OperandType.SET for operand in operands)
        return other[0] == "-" and site.operator[0] in _OF_SETS - {"-"} and not sets


class Augmented(Arithmetic):
    """`+=` and similar operators are replaced by each other, and by a plain `=`."""

    id = "augmented"
    families = (Family.AUGMENTED,)
    EXAMPLES = (
        DoubtExample(
            "def f(a, b):\n    a += b\n    return a\n",
            ("+= -> -=", "+= -> *=", "+= -> /=", "+= -> //=", "+= -> %=", "+= -> **=", "+= -> ="),
        ),
        DoubtExample("def f(a):\n    a += 'x'\n    return a\n", ("+= -> =",)),
        DoubtExample(
            "def f(a):\n    b = set()\n    b |= a\n    return b\n",
            ("|= -> &=", "|= -> -=", "|= -> ^=", "|= -> ="),
        ),
    )

    def candidates(
        self, scope: DoubtScope, site: OperatorSite, operands: list[tree_sitter.Node]
    ) -> Iterable[str]:
        """A plain assignment suits everything."""
        return (*super().candidates(scope, site, operands), "=")


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
