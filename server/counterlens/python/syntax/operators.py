"""The operators of Python, by the type of their node."""

from __future__ import annotations

from counterlens.syntax.operators import COMPARISON, Family, Kinds

OPERATORS: Kinds = {
    "comparison_operator": (
        COMPARISON,
        (Family.IDENTITY, "is|is not"),
        (Family.MEMBERSHIP, "in|not in"),
    ),
    "binary_operator": ((Family.ARITHMETIC, "+ - * / // % **"), (Family.BITWISE, "& | ^ << >>")),
    "boolean_operator": ((Family.BOOLEAN, "and or"),),
    "augmented_assignment": (
        (Family.AUGMENTED, "+= -= *= /= //= %= **="),
        (Family.AUGMENTED, "&= |= ^= <<= >>="),
    ),
}
