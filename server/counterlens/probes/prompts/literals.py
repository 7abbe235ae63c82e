"""Read the model's answer on the result of a call: read as a Python literal, and compared as a value."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from counterlens.syntax.python_ast import parse_expression

RELATIVE, ABSOLUTE = 1e-6, 1e-9
"""Floats are equal within these tolerances."""
_ANSWER = re.compile(r"answer\W{0,3}[:=](?:[ *`]*\S+\(.*\)\s*(?:==|->|=))?", re.IGNORECASE)
_COMMENT = re.compile(r"^[ \t]*#[ \t]?", re.MULTILINE)
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


def direct_answer(text: str, *, cut_off: bool = False) -> Literal | None:
    """The literal that a completion begins with: its first line, or more where brackets are open.

    Marks of code and of emphasis around it do not count.

    Args:
        text: The answer.
        cut_off: Whether the limit of tokens ended it: what may go on is no literal then.
    """
    fenced = _FENCE.match(text.strip())
    lines = (fenced[1] if fenced else text).strip().splitlines()[:20]
    for count in range(1, len(lines) + 1):
        part = "\n".join(lines[:count]).strip().lstrip("`*").rstrip("`*.")
        answer = literal(part)
        if answer is not None:
            ended = count < len(lines) or text.endswith("\n") or part.endswith((*_CLOSED, *"\"'"))
            return answer if ended or not cut_off else None
        if count == 1 and part.count("(") + part.count("[") + part.count("{") == 0:
            return None
    return None


def stepwise_answer(text: str, *, cut_off: bool = False) -> Literal | None:
    """The literal behind the last `Answer:`; the arguments are those of `direct_answer`."""
    plain = _COMMENT.sub("", text)
    announced = list(_ANSWER.finditer(plain))
    if not announced:
        return None
    return direct_answer(plain[announced[-1].end() :].lstrip(" *\n").rstrip(" *"), cut_off=cut_off)


def why_unread(text: str, finish: str, *, stepwise: bool) -> str:
    """Why no literal was found in what a model said, in a few words that can be counted.

    Args:
        text: Its answer.
        finish: `stop` or `length`, as in `Completion`.
        stepwise: Whether its answer should stand behind `Answer:`.
    """
    if finish == "length":
        return CUT_OFF
    if not text.strip():
        return "nothing was said"
    if _DECLINED.search(text):
        return DECLINED
    if stepwise and not _ANSWER.search(text):
        return "it ends without an answer"
    try:
        parse_expression(text.strip().splitlines()[0].strip())
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return "it is not a Python literal"
    return "it is an expression, not a literal"


def outcome(answer: Literal | None, truth: Any, *, unread: str | None = None) -> AnswerOutcome:
    """Whether an answer is right; `unread` says why there is none, as `why_unread` does."""
    if answer is None:
        return _UNREAD.get(unread or "", AnswerOutcome.UNPARSABLE)
    if not equal(answer.value, truth):
        return AnswerOutcome.WRONG
    return AnswerOutcome.RIGHT if _same_numbers(answer.value, truth) else AnswerOutcome.OTHER_NUMBER


def as_written(text: str) -> str:
    """A text without blanks and the quotation marks around it, and with one kind of them inside."""
    plain = "".join(text.split()).replace('"', "'")
    return plain.removeprefix("'").removesuffix("'")


def announced_text(text: str, *, stepwise: bool) -> str:
    """The first line that is not blank where an answer should stand; empty if there is none."""
    if stepwise:
        plain = _COMMENT.sub("", text)
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


def short(written: str | None) -> str | None:
    """A literal, or a call, as far as a table has room; records hold all of it."""
    return written if written is None or len(written) <= _WIDEST else f"{written[: _WIDEST - 1]}…"
