"""Assumptions that a mutation may need because Python's source alone cannot prove them.

Each is recorded on the counterfactuals that need it, so that a caller can exclude them.
"""

from __future__ import annotations

TOTAL_ORDER = "total-order"
EQ_NE_CONSISTENT = "eq-ne-consistent"
REFLECTED = "reflected-comparison"
PURE_OPERATORS = "pure-operators"
NEITHER_RAISES = "neither-raises"
OBJECT_LIFETIME = "object-lifetime"
INTEGER_RANGE = "integer-range"
ANNOTATIONS_UNREAD = "annotations-unread"
WHOLE_PROGRAM = "whole-program"
POSITIONAL_ARGUMENTS = "positional-arguments"
NAMES_UNREAD = "names-unread"
OBSERVED_INPUT = "observed-input"

ASSUMPTIONS = {
    TOTAL_ORDER: (
        "Exactly one of `a < b` and `a >= b` is true for two compared values: neither is NaN, and their "
        "class has a total order (sets do not)."
    ),
    EQ_NE_CONSISTENT: "`a != b` is the opposite of `a == b`: their class does not define `__ne__` otherwise.",
    REFLECTED: (
        "`a < b` and `b > a` are equivalent, as are `a == b` and `b == a`: the operands' classes define "
        "the reflected comparison consistently."
    ),
    PURE_OPERATORS: "Operators, attribute and subscript reads, and methods named like the reading ones of "
    "built-in classes (`split`, `items`) have no side effects.",
    NEITHER_RAISES: (
        "Neither of two swapped pieces of code raises an exception; if one does, it may be a different "
        "exception, or come before an effect that it followed."
    ),
    OBJECT_LIFETIME: "Nothing depends on when an object is freed: a value may be held a little longer.",
    INTEGER_RANGE: "The arguments of `range` are integers.",
    ANNOTATIONS_UNREAD: "No code reads the annotations at run time.",
    POSITIONAL_ARGUMENTS: "Callers pass the renamed parameter by position, not by name.",
    NAMES_UNREAD: "No library looks a variable up by a word of a text that the program keeps.",
    OBSERVED_INPUT: "The input is the observed one: the program may behave differently for others.",
    WHOLE_PROGRAM: "The file is the whole program: no other module calls its definitions.",
}
