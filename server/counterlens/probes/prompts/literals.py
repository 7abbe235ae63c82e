"""Read the model's answer on the result of a call: read as a literal, and compared as a value.

`Values` says how values of a language are read and compared; the functions on single values are Python's.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from counterlens.probes.prompts.misleading import misled
from counterlens.syntax.python_ast import parse_expression, parse_module

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
_WIDEST = 60  # characters of a literal where there is little room
DECLINED = "it declines to answer"
CUT_OFF = "it was cut off before its answer"


class AnswerOutcome(StrEnum):
    """The outcome of one question."""

    RIGHT = "right"
    OTHER_NUMBER = "float for int"  # the right value, but a float where an int is right, or the other way
    WRONG = "wrong"
    UNPARSABLE = "unparsable"  # no literal where the answer should be
    REFUSED = "refused"  # it declines to answer
    TRUNCATED = "truncated"  # the limit of tokens ended it before its answer


_UNREAD = {DECLINED: AnswerOutcome.REFUSED, CUT_OFF: AnswerOutcome.TRUNCATED}
_CLOSED = ("]", ")", "}", "`")


@dataclass(frozen=True, slots=True)
class Literal:
    """A value, and how it was written."""

    value: Any
    written: str


@dataclass(frozen=True, slots=True)
class Values:
    """How the values of a language are read from answers, and compared.

    Attributes:
        comment: The mark of a comment up to the end of the line.
        null: The literal for nothing.
        zero: The literal for zero.
        literal: Reads a text as one literal; None if it is none.
        written: A value as a literal.
        equal: Whether two values are the same.
        same_numbers: Whether two values that are equal have whole numbers and others in the same places.
        same_type: Whether two values are of one type (Liu et al. 2024, type match).
        type_name: The name of a value's type.
        same_text: Whether an answer is written as the truth is, blanks aside; the arguments are the literal
            in it, the text where it should stand, and the truth.
        why_unreadable: Why a text is no literal, in a few words that can be counted.
        misled: Another value of the same type, clearly not the same.
        asserted: The value that a call is compared with in the text of an assertion; None if there is none.
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
        """A text without the marks of comments at the beginning of its lines."""
        return re.sub(rf"^[ \t]*{self.comment}[ \t]?", "", text, flags=re.MULTILINE)


def literal(text: str) -> Literal | None:
    """A text as one literal, comments and blanks aside; None if it is none."""
    stripped = text.strip()
    if not stripped or len(stripped) > _LONGEST:
        return None
    try:
        tree = parse_expression(stripped)
        return Literal(ast.literal_eval(tree), ast.unparse(tree))
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


def direct_answer(text: str, *, cut_off: bool = False, values: Values | None = None) -> Literal | None:
    """The literal that a completion begins with: its first line, or more where brackets are open.

    Marks of code and of emphasis around it do not count.

    Args:
        text: The answer.
        cut_off: Whether the limit of tokens ended it: what may go on is no literal then.
        values: How literals are read; as in Python without it.
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
    """The literal behind the last `Answer:`; the arguments are those of `direct_answer`."""
    values = values or PYTHON_VALUES
    plain = values.uncommented(text)
    announced = list(_ANSWER.finditer(plain))
    if not announced:
        return None
    said = plain[announced[-1].end() :].lstrip(" *\n").rstrip(" *")
    return direct_answer(said, cut_off=cut_off, values=values)


def why_unread(text: str, finish: str, *, stepwise: bool, values: Values | None = None) -> str:
    """Why no literal was found in what a model said, in a few words that can be counted.

    Args:
        text: Its answer.
        finish: `stop` or `length`, as in `Completion`.
        stepwise: Whether its answer should stand behind `Answer:`.
        values: How literals are read; as in Python without it.
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
    """Why a text is no literal, in a few words that can be counted."""
    try:
        parse_expression(text.strip().splitlines()[0].strip())
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return "it is not a Python literal"
    return "it is an expression, not a literal"


def outcome(
    answer: Literal | None, truth: Any, *, unread: str | None = None, values: Values | None = None
) -> AnswerOutcome:
    """Whether an answer is right.

    Args:
        answer: The answer; None if there is none.
        truth: The value that is right.
        unread: Why there is none, as `why_unread` says.
        values: How values are compared; as in Python without it.
    """
    values = values or PYTHON_VALUES
    if answer is None:
        return _UNREAD.get(unread or "", AnswerOutcome.UNPARSABLE)
    if not values.equal(answer.value, truth):
        return AnswerOutcome.WRONG
    same = values.same_numbers(answer.value, truth)
    return AnswerOutcome.RIGHT if same else AnswerOutcome.OTHER_NUMBER


def as_written(text: str) -> str:
    """A text without blanks and the quotation marks around it, and with one kind of them inside."""
    plain = "".join(text.split()).replace('"', "'")
    return plain.removeprefix("'").removesuffix("'")


def same_text(found: Literal | None, text: str, truth: Literal) -> bool:
    """Whether an answer is written as the truth is: its literal, else the text where that should stand."""
    same = found.written if found else text
    return bool(same) and as_written(same) == as_written(truth.written)


def announced_text(text: str, *, stepwise: bool, values: Values | None = None) -> str:
    """The first line that is not blank where an answer should stand; empty if there is none."""
    if stepwise:
        plain = (values or PYTHON_VALUES).uncommented(text)
        found = list(_ANSWER.finditer(plain))
        text = plain[found[-1].end() :] if found else ""
    return next((line.strip().strip("`*") for line in text.splitlines() if line.strip()), "")


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same: as Python compares them, floats within the tolerances.

    Unlike in Python, a truth value is no number.
    """
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    if isinstance(one, float) or isinstance(other, float):
        if not (isinstance(one, int | float) and isinstance(other, int | float)):
            return False
        try:
            near = math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
        except OverflowError:  # an integer that is larger than any float
            return False
        return near or (one != one and other != other)
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return type(one) is type(other) and bool(one == other)


def _same_numbers(one: Any, other: Any) -> bool:
    """Whether two values that are equal have integers and floats in the same places."""
    if isinstance(one, list | tuple):
        return all(map(_same_numbers, one, other))
    if isinstance(one, dict):
        kinds = {key: type(key) for key in other}
        return all(type(key) is kinds[key] and _same_numbers(one[key], other[key]) for key in one)
    return isinstance(one, float) == isinstance(other, float)


def unordered(value: Any) -> bool:
    """Whether a value holds a set, which has no order to write it in."""
    if isinstance(value, set | frozenset):
        return True
    if isinstance(value, dict):
        return any(map(unordered, value)) or any(map(unordered, value.values()))
    return isinstance(value, list | tuple) and any(map(unordered, value))


def same_type(one: Any, other: Any) -> bool:
    """Whether two values are of one class (Liu et al. 2024, type match)."""
    return type(one) is type(other)


def type_name(value: Any) -> str:
    """The name of a value's class."""
    return type(value).__name__


def short(written: str | None) -> str | None:
    """A literal, or a call, as far as a table has room; records hold all of it."""
    return written if written is None or len(written) <= _WIDEST else f"{written[: _WIDEST - 1]}…"


def asserted(line: str) -> Literal | None:
    """The result of a call, as in an `assert`."""
    for end in range(len(line), 0, -1):
        if line[end - 1] in " .":  # what is said after the assertion
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
"""How values of Python are read and compared."""
