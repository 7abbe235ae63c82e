"""What a model says that a call gives: read as a Python literal, and compared as a value."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

RELATIVE, ABSOLUTE = 1e-6, 1e-9
"""Floats are equal within these tolerances."""
_ANSWER = re.compile(r"answer\s*[:=]\s*(?:\S+\(.*\)\s*(?:==|->|=)\s*)?(.*)", re.IGNORECASE)
_LONGEST = 4096


class Outcome(StrEnum):
    """What became of one question."""

    RIGHT = "right"
    WRONG = "wrong"
    UNPARSABLE = "unparsable"  # no literal where the answer should be


@dataclass(frozen=True, slots=True)
class Literal:
    """A value, and how it was written."""

    value: Any
    written: str


def literal(text: str) -> Literal | None:
    """A text as one literal, comments and blanks aside; None where it is none."""
    stripped = text.strip()
    if not stripped or len(stripped) > _LONGEST:
        return None
    try:
        tree = ast.parse(stripped, mode="eval")
        return Literal(ast.literal_eval(tree.body), ast.unparse(tree.body))
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


def direct_answer(text: str) -> Literal | None:
    """The literal that a completion begins with: its first line, or more where brackets are open."""
    lines = text.strip().splitlines()[:20]
    for count in range(1, len(lines) + 1):
        part = "\n".join(lines[:count]).strip().strip("`").rstrip(".")
        found = literal(part)
        if found is not None:
            return found
        if count == 1 and part.count("(") + part.count("[") + part.count("{") == 0:
            return None
    return None


def stepwise_answer(text: str) -> Literal | None:
    """The literal behind the last `Answer:`."""
    found = [match[1] for line in text.splitlines() if (match := _ANSWER.search(line))]
    return direct_answer(found[-1]) if found else None


def outcome(answer: Literal | None, truth: Any) -> Outcome:
    """Whether an answer is right."""
    if answer is None:
        return Outcome.UNPARSABLE
    return Outcome.RIGHT if equal(answer.value, truth) else Outcome.WRONG


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same: as Python compares them, floats within the tolerances.

    Unlike in Python, a truth value is no number.
    """
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    if isinstance(one, float) or isinstance(other, float):
        if not (isinstance(one, int | float) and isinstance(other, int | float)):
            return False
        return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE) or (one != one and other != other)
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return type(one) is type(other) and bool(one == other)


def same_type(one: Any, other: Any) -> bool:
    """Whether two values are of one class (paper 002, type match)."""
    return type(one) is type(other)
