"""Read the model's answer about the result of a call as a literal, and compare it as a value.

`Values` reads and compares the values of a language; the functions on single values are for Python.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from counterlens.syntax.python_ast import parse_expression, parse_module

FAR = 97
"""Distance by which a number moves away from 0, after its sign has changed."""


def misled(value: Any) -> Any:
    """A clearly different value of the same class: `False` for `True`, `-102` for `5`.

    A list, tuple or dictionary gets another first item; None becomes a number.
    """
    way = _WAYS.get(type(value))
    return way(value) if way else FAR


def _number(value: Any) -> Any:
    return -value - FAR if value >= 0 else -value + FAR


def _sequence(value: Any) -> Any:
    return type(value)([misled(value[0]), *value[1:]] if value else [FAR])


def _dictionary(value: Any) -> Any:
    if not value:
        return {FAR: FAR}
    first = next(iter(value))
    return {**value, first: misled(value[first])}


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


RELATIVE, ABSOLUTE = 1e-6, 1e-9
"""Floats are equal within these tolerances."""
_ANSWER = re.compile(r"answer\W{0,3}[:=](?:[ *`]*\S+\(.*\)\s*(?:==|->|=))?", re.IGNORECASE)
_FENCE = re.compile(r"\A```\w*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_DECLINED = re.compile(
    r"\bI(?:'m| am) (?:sorry|unable|not able)|\bas an AI\b"
    r"|\bI (?:cannot|can't|do not|don't) (?:know|determine|tell|answer|run|execute|predict)"
    r"|\b(?:cannot|can't|could not|impossible to|not possible to) (?:be )?"
    r"(?:determined?|answer(?:ed)?|predict(?:ed)?|know|tell)",
    re.IGNORECASE,
)
_LONGEST = 4096
_WIDEST = 60  # maximum characters of a literal in a table
DECLINED = "it declines to answer"
CUT_OFF = "it was cut off before its answer"


class AnswerOutcome(StrEnum):
    """The outcome of one question."""

    RIGHT = "right"
    OTHER_NUMBER = "float for int"  # the right value, but a float for an int, or the reverse
    WRONG = "wrong"
    UNPARSABLE = "unparsable"  # no literal in place of the answer
    REFUSED = "refused"  # the model declines to answer
    TRUNCATED = "truncated"  # the token limit ended the text before the answer


_UNREAD = {DECLINED: AnswerOutcome.REFUSED, CUT_OFF: AnswerOutcome.TRUNCATED}
_CLOSED = ("]", ")", "}", "`")


@dataclass(frozen=True, slots=True)
class Literal:
    """A value, and its text."""

    value: Any
    written: str


@dataclass(frozen=True, slots=True)
class Values:
    """Reads the values of a language from answers, and compares them.

    Attributes:
        comment: The mark of a comment up to the end of the line.
        null: The literal for the null value.
        zero: The literal for zero.
        literal: Parses a text as one literal; None if it is not one.
        written: Writes a value as a literal.
        equal: Whether two values are equal.
        same_numbers: Whether two equal values have integers and other numbers in the same places.
        same_type: Whether two values have the same type (Liu et al. 2024, type match).
        type_name: The name of a value's type.
        same_text: Whether an answer has the same text as the truth, ignoring blanks; the arguments are the
            literal in the answer, the text in place of the literal, and the truth.
        why_unreadable: Why a text is not a literal, as a short reason that can be counted.
        misled: A clearly different value of the same type.
        asserted: The value with which an assertion compares a call; None if there is none.
    """

    comment: str
    null: str
    zero: str
    literal: Callable[[str], Literal | None]
    written: Callable[[Any], str]
    equal: Callable[[Any, Any], bool]
    same_numbers: Callable[[Any, Any], bool]
    same_type: Callable[[Any, Any], bool]
    type_name: Callable[[Any], str]
    same_text: Callable[[Literal | None, str, Literal], bool]
    why_unreadable: Callable[[str], str]
    misled: Callable[[Any], Any]
    asserted: Callable[[str], Literal | None]

    def uncommented(self, text: str) -> str:
        """A text without comment marks at the beginning of its lines."""
        return re.sub(rf"^[ \t]*{self.comment}[ \t]?", "", text, flags=re.MULTILINE)


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


def direct_answer(text: str, *, cut_off: bool = False, values: Values | None = None) -> Literal | None:
    """The literal at the beginning of a completion: its first line, or more lines while brackets are open.

    Markdown code marks and emphasis around it are ignored.

    Args:
        text: The answer.
        cut_off: Whether the token limit ended it; a literal that could continue does not count then.
        values: Reads the literals; Python's by default.
    """
    read = values.literal if values is not None else literal
    fenced = _FENCE.match(text.strip())
    lines = (fenced[1] if fenced else text).strip().splitlines()[:20]
    for count in range(1, len(lines) + 1):
        part = "\n".join(lines[:count]).strip().lstrip("`*").rstrip("`*.")
        answer = read(part)
        if answer is not None:
            ended = count < len(lines) or text.endswith("\n") or part.endswith((*_CLOSED, *"\"'"))
            return answer if ended or not cut_off else None
        if count == 1 and part.count("(") + part.count("[") + part.count("{") == 0:
            return None
    return None


def stepwise_answer(text: str, *, cut_off: bool = False, values: Values | None = None) -> Literal | None:
    """The literal after the last `Answer:`; the arguments are those of `direct_answer`."""
    values = values or PYTHON_VALUES
    plain = values.uncommented(text)
    announced = list(_ANSWER.finditer(plain))
    if not announced:
        return None
    said = plain[announced[-1].end() :].lstrip(" *\n").rstrip(" *")
    return direct_answer(said, cut_off=cut_off, values=values)


def why_unread(text: str, finish: str, *, stepwise: bool, values: Values | None = None) -> str:
    """Why a model's answer contains no literal, as a short reason that can be counted.

    Args:
        text: The answer.
        finish: `stop` or `length`, as in `Completion`.
        stepwise: Whether the literal should follow `Answer:`.
        values: Reads the literals; Python's by default.
    """
    if finish == "length":
        return CUT_OFF
    if not text.strip():
        return "nothing was said"
    if _DECLINED.search(text):
        return DECLINED
    if stepwise and not _ANSWER.search(text):
        return "it ends without an answer"
    return (values or PYTHON_VALUES).why_unreadable(text)


def why_unreadable(text: str) -> str:
    """Why a text is not a Python literal, as a short reason that can be counted."""
    try:
        parse_expression(text.strip().splitlines()[0].strip())
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return "it is not a Python literal"
    return "it is an expression, not a literal"


def outcome(
    answer: Literal | None, truth: Any, *, unread: str | None = None, values: Values | None = None
) -> AnswerOutcome:
    """The outcome of a question.

    Args:
        answer: The literal in the answer; None if there is none.
        truth: The right value.
        unread: Why there is no literal, from `why_unread`.
        values: Compares the values; Python's by default.
    """
    values = values or PYTHON_VALUES
    if answer is None:
        return _UNREAD.get(unread or "", AnswerOutcome.UNPARSABLE)
    if not values.equal(answer.value, truth):
        return AnswerOutcome.WRONG
    same = values.same_numbers(answer.value, truth)
    return AnswerOutcome.RIGHT if same else AnswerOutcome.OTHER_NUMBER


def as_written(text: str) -> str:
    """A text without blanks and surrounding quotation marks, with single ones inside."""
    plain = "".join(text.split()).replace('"', "'")
    return plain.removeprefix("'").removesuffix("'")


def same_text(found: Literal | None, text: str, truth: Literal) -> bool:
    """Whether the literal in an answer, or the text in place of it, has the same text as the truth."""
    same = found.written if found else text
    return bool(same) and as_written(same) == as_written(truth.written)


def announced_text(text: str, *, stepwise: bool, values: Values | None = None) -> str:
    """The first line that is not blank in place of the answer; empty if there is none."""
    if stepwise:
        plain = (values or PYTHON_VALUES).uncommented(text)
        found = list(_ANSWER.finditer(plain))
        text = plain[found[-1].end() :] if found else ""
    return next((line.strip().strip("`*") for line in text.splitlines() if line.strip()), "")


def equal(one: Any, other: Any) -> bool:
    """Whether two values are equal as in Python, with floats within the tolerances.

    Unlike in Python, a Boolean is not a number, and NaN equals NaN.
    """
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    if isinstance(one, float) or isinstance(other, float):
        if not (isinstance(one, int | float) and isinstance(other, int | float)):
            return False
        try:
            near = math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
        except OverflowError:  # the integer is larger than any float
            return False
        return near or (one != one and other != other)
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return type(one) is type(other) and bool(one == other)


def _same_numbers(one: Any, other: Any) -> bool:
    """Whether two equal values have integers and floats in the same places."""
    if isinstance(one, list | tuple):
        return all(map(_same_numbers, one, other))
    if isinstance(one, dict):
        kinds = {key: type(key) for key in other}
        return all(type(key) is kinds[key] and _same_numbers(one[key], other[key]) for key in one)
    return isinstance(one, float) == isinstance(other, float)


def unordered(value: Any) -> bool:
    """Whether a value contains a set, whose written order is arbitrary."""
    if isinstance(value, set | frozenset):
        return True
    if isinstance(value, dict):
        return any(map(unordered, value)) or any(map(unordered, value.values()))
    return isinstance(value, list | tuple) and any(map(unordered, value))


def same_type(one: Any, other: Any) -> bool:
    """Whether two values have the same class (Liu et al. 2024, type match)."""
    return type(one) is type(other)


def type_name(value: Any) -> str:
    """The name of a value's class."""
    return type(value).__name__


def short(written: str | None) -> str | None:
    """A literal or a call, shortened for a table; records have the whole text."""
    return written if written is None or len(written) <= _WIDEST else f"{written[: _WIDEST - 1]}…"


def asserted(line: str) -> Literal | None:
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
    misled=misled,
    asserted=asserted,
)
"""Reads and compares Python values."""
