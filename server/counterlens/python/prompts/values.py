"""Python values in answers: read as literals, compared as values, and replaced by misleading ones.

A misleading value contradicts a specification (Liu et al. 2024, section IV-C: misleading tests).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

from counterlens.probes.prompts.literals import ABSOLUTE, RELATIVE, Literal, Values
from counterlens.python.syntax.parsing import parse_expression, parse_module

_LONGEST = 4096  # maximum characters of a literal
FAR = 97
"""Distance by which a number moves away from 0, after its sign has changed."""


def literal(text: str) -> Literal | None:
    """The literal in a text, ignoring comments and blanks; None if the text is not one literal."""
    stripped = text.strip()
    if not stripped or len(stripped) > _LONGEST:
        return None
    try:
        tree = parse_expression(stripped)
        return Literal(ast.literal_eval(tree), ast.unparse(tree))
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


def why_unreadable(text: str) -> str:
    """Why a text is not a Python literal, as a short reason that can be counted."""
    try:
        parse_expression(text.strip().splitlines()[0].strip())
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return "it is not a Python literal"
    return "it is an expression, not a literal"


def as_written(text: str) -> str:
    """A text without blanks and surrounding quotation marks, with single ones inside."""
    plain = "".join(text.split()).replace('"', "'")
    return plain.removeprefix("'").removesuffix("'")


def same_text(answer: Literal | None, text: str, truth: Literal) -> bool:
    """Whether the literal in an answer, or the text in place of it, has the same text as the truth."""
    same = answer.written if answer else text
    return bool(same) and as_written(same) == as_written(truth.written)


def equal(value: Any, other: Any) -> bool:
    """Whether two values are equal as in Python, with floats within the tolerances.

    Unlike in Python, a Boolean is not a number, and NaN equals NaN.
    """
    if isinstance(value, bool) != isinstance(other, bool):
        return False
    if isinstance(value, float) or isinstance(other, float):
        if not (isinstance(value, int | float) and isinstance(other, int | float)):
            return False
        try:
            near = math.isclose(value, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
        except OverflowError:  # the integer is larger than any float
            return False
        return near or (value != value and other != other)
    if isinstance(value, list | tuple) and type(value) is type(other):
        return len(value) == len(other) and all(map(equal, value, other))
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(equal(value[key], other[key]) for key in value)
    return type(value) is type(other) and bool(value == other)


def _same_numbers(value: Any, other: Any) -> bool:
    """Whether two equal values have integers and floats in the same places."""
    if isinstance(value, list | tuple):
        return all(map(_same_numbers, value, other))
    if isinstance(value, dict):
        kinds = {key: type(key) for key in other}
        return all(type(key) is kinds[key] and _same_numbers(value[key], other[key]) for key in value)
    return isinstance(value, float) == isinstance(other, float)


def has_no_order(value: Any) -> bool:
    """Whether a value contains a set, whose written order is arbitrary."""
    if isinstance(value, set | frozenset):
        return True
    if isinstance(value, dict):
        return any(map(has_no_order, value)) or any(map(has_no_order, value.values()))
    return isinstance(value, list | tuple) and any(map(has_no_order, value))


def same_type(value: Any, other: Any) -> bool:
    """Whether two values have the same class (Liu et al. 2024, type match)."""
    return type(value) is type(other)


def type_name(value: Any) -> str:
    """The name of a value's class."""
    return type(value).__name__


def asserted_value(line: str) -> Literal | None:
    """The value with which an `assert` compares a call; None if there is none."""
    for end in range(len(line), 0, -1):
        if line[end - 1] in " .":  # text after the assertion
            continue
        try:
            (statement,) = parse_module(line[:end]).body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare):
            return literal(ast.unparse(statement.test.comparators[0]))
        return None
    return None


def misleading_value(value: Any) -> Any:
    """A clearly different value of the same class: `False` for `True`, `-102` for `5`.

    A list, tuple or dictionary gets another first item; None becomes a number.
    """
    way = _WAYS.get(type(value))
    return way(value) if way else FAR


def _number(value: Any) -> Any:
    return -value - FAR if value >= 0 else -value + FAR


def _sequence(value: Any) -> Any:
    return type(value)([misleading_value(value[0]), *value[1:]] if value else [FAR])


def _dictionary(value: Any) -> Any:
    if not value:
        return {FAR: FAR}
    first = next(iter(value))
    return {**value, first: misleading_value(value[first])}


_WAYS: dict[type, Callable[[Any], Any]] = {
    bool: lambda value: not value,
    int: _number,
    float: _number,
    complex: lambda value: -value - FAR,
    str: lambda value: f"{value[::-1]}#",
    bytes: lambda value: value[::-1] + b"#",
    list: _sequence,
    tuple: _sequence,
    dict: _dictionary,
    set: lambda value: set() if value else {FAR},
}

PYTHON_VALUES = Values(
    comment="#",
    null="None",
    zero="0",
    literal=literal,
    written=repr,
    equal=equal,
    same_numbers=_same_numbers,
    same_type=same_type,
    type_name=type_name,
    same_text=same_text,
    why_unreadable=why_unreadable,
    misled=misleading_value,
    asserted=asserted_value,
)
"""Reads and compares Python values."""
