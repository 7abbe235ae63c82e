"""Read the model's answer about the result of a call as a literal, and compare it as a value.

`Values` reads and compares the values of a language.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

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
_WIDEST = 60  # maximum characters of a literal in a table
DECLINED = "it declines to answer"
CUT_OFF = "it was cut off before its answer"
_CLOSED = ("]", ")", "}", "`")


class AnswerOutcome(StrEnum):
    """The outcome of one question."""

    RIGHT = "right"
    OTHER_NUMBER = "float for int"  # the right value, but a float for an int, or the reverse
    WRONG = "wrong"
    UNPARSABLE = "unparsable"  # no literal in place of the answer
    REFUSED = "refused"  # the model declines to answer
    TRUNCATED = "truncated"  # the token limit ended the text before the answer


_UNREAD = {DECLINED: AnswerOutcome.REFUSED, CUT_OFF: AnswerOutcome.TRUNCATED}


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


def direct_answer(text: str, *, cut_off: bool = False, values: Values) -> Literal | None:
    """The literal at the beginning of a completion: its first line, or more lines while brackets are open.

    Markdown code marks and emphasis around it are ignored.

    Args:
        cut_off: Whether the token limit ended it; a literal that could continue does not count then.
        values: Reads the literals.
    """
    fenced = _FENCE.match(text.strip())
    lines = (fenced[1] if fenced else text).strip().splitlines()[:20]
    for count in range(1, len(lines) + 1):
        part = "\n".join(lines[:count]).strip().lstrip("`*").rstrip("`*.")
        answer = values.literal(part)
        if answer is not None:
            ended = count < len(lines) or text.endswith("\n") or part.endswith((*_CLOSED, *"\"'"))
            return answer if ended or not cut_off else None
        if count == 1 and part.count("(") + part.count("[") + part.count("{") == 0:
            return None
    return None


def stepwise_answer(text: str, *, cut_off: bool = False, values: Values) -> Literal | None:
    """The literal after the last `Answer:`; the arguments are those of `direct_answer`."""
    plain = values.uncommented(text)
    announced = list(_ANSWER.finditer(plain))
    if not announced:
        return None
    said = plain[announced[-1].end() :].lstrip(" *\n").rstrip(" *")
    return direct_answer(said, cut_off=cut_off, values=values)


def why_unread(text: str, finish: str, *, stepwise: bool, values: Values) -> str:
    """Why a model's answer contains no literal, as a short reason that can be counted.

    Args:
        finish: `stop` or `length`, as in `Completion`.
        stepwise: Whether the literal should follow `Answer:`.
        values: Reads the literals.
    """
    if finish == "length":
        return CUT_OFF
    if not text.strip():
        return "nothing was said"
    if _DECLINED.search(text):
        return DECLINED
    if stepwise and not _ANSWER.search(text):
        return "it ends without an answer"
    return values.why_unreadable(text)


def outcome(
    answer: Literal | None, truth: Any, *, unread: str | None = None, values: Values
) -> AnswerOutcome:
    """The outcome of a question.

    Args:
        answer: The literal in the answer; None if there is none.
        truth: The right value.
        unread: Why there is no literal, from `why_unread`.
        values: Compares the values.
    """
    if answer is None:
        return _UNREAD.get(unread or "", AnswerOutcome.UNPARSABLE)
    if not values.equal(answer.value, truth):
        return AnswerOutcome.WRONG
    same = values.same_numbers(answer.value, truth)
    return AnswerOutcome.RIGHT if same else AnswerOutcome.OTHER_NUMBER


def announced_text(text: str, *, stepwise: bool, values: Values) -> str:
    """The first line that is not blank in place of the answer; empty if there is none."""
    if stepwise:
        plain = values.uncommented(text)
        matches = list(_ANSWER.finditer(plain))
        text = plain[matches[-1].end() :] if matches else ""
    return next((line.strip().strip("`*") for line in text.splitlines() if line.strip()), "")


def short(written: str | None) -> str | None:
    """A literal or a call, shortened for a table; records have the whole text."""
    return written if written is None or len(written) <= _WIDEST else f"{written[: _WIDEST - 1]}…"
