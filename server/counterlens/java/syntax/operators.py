"""The binary operators of Java."""

from __future__ import annotations

from counterlens.syntax.operators import COMPARISON, Family, Kinds

OPERATORS: Kinds = {
    "binary_expression": (
        COMPARISON,
        (Family.ARITHMETIC, "+ - * / %"),
        (Family.BITWISE, "& | ^ << >> >>>"),
        (Family.BOOLEAN, "&& ||"),
    ),
    "assignment_expression": (
        (Family.AUGMENTED, "+= -= *= /= %="),
        (Family.AUGMENTED, "&= |= ^= <<= >>= >>>="),
    ),
}
