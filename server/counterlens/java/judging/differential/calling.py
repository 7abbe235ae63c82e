"""Calls of a program's method in its JVM, and the result of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from counterlens.java.judging.bench import HeldProgram
from counterlens.java.judging.differential.target import JavaTarget
from counterlens.java.judging.differential.writing import simpler, size_of, write
from counterlens.judging.comparison import close
from counterlens.sandbox.java.values import (
    JavaAnswer,
    JavaValue,
    JavaWriter,
    read_answer,
    read_observation,
)
from counterlens.sandbox.serving import ServiceEndedError, ServiceLateError

_Read = Callable[[bytes, int, Sequence[JavaValue]], JavaAnswer]


class CallFate(Enum):
    """A call without an answer."""

    LATE = "it does not terminate"
    ENDED = "it ends its process or runs out of memory"


@dataclass(frozen=True, slots=True)
class JavaCall:
    """A call: its arguments."""

    arguments: tuple[JavaValue, ...]

    @property
    def size(self) -> tuple[int, int, str]:
        """A sort key: a smaller call is simpler."""
        text = ", ".join(map(write, self.arguments))
        return sum(map(size_of, self.arguments)), len(text), text

    def simpler(self) -> Iterator[JavaCall]:
        """Calls with one argument one step simpler."""
        for at, value in enumerate(self.arguments):
            for less in simpler(value):
                yield JavaCall((*self.arguments[:at], less, *self.arguments[at + 1 :]))

    def written(self, target: JavaTarget) -> str:
        """The call of a method as a Java expression."""
        texts = list(map(write, self.arguments))
        call = f"{target.name}({', '.join(texts[target.made :])})"
        owner = re.sub(r".*[.$]", "", target.owner)
        return f"new {owner}({', '.join(texts[: target.made])}).{call}" if target.made else call


def make_call(held: HeldProgram, target: JavaTarget, call: JavaCall, seconds: float) -> JavaAnswer | CallFate:
    """Call a method of a program, on a new object if it needs one.

    Raises:
        SandboxError: a JVM cannot be started.
        Cancelled: the program's `cancel` was set.
    """
    return _ask_again(held, b"K", target, call, seconds, read_answer)


def observe_call(
    held: HeldProgram, target: JavaTarget, call: JavaCall, seconds: float
) -> JavaAnswer | CallFate:
    """As `make_call`, but twice on the same object; the answer has what the first call left behind."""
    return _ask_again(held, b"O", target, call, seconds, read_observation)


def _ask_again(
    held: HeldProgram, kind: bytes, target: JavaTarget, call: JavaCall, seconds: float, read: _Read
) -> JavaAnswer | CallFate:
    request = _request(target, call)
    outcome: JavaAnswer | CallFate = CallFate.ENDED
    for _ in range(2):  # in a fresh JVM if the first was late, ended, or has an error of the machine
        try:
            outcome = read(held.ask(kind + request.data, seconds), request.containers, call.arguments)
            if not outcome.serious:
                return outcome
        except ServiceLateError:
            outcome = CallFate.LATE
        except ServiceEndedError:
            outcome = CallFate.ENDED
        held.leave()
    return outcome


def _request(target: JavaTarget, call: JavaCall) -> JavaWriter:
    writer = JavaWriter()
    for text in (target.owner, target.name, target.simple):
        writer.text(text)
    writer.number(">?", not target.static)
    writer.text(target.maker)
    writer.number(">i", target.made)
    writer.number(">i", len(call.arguments))
    for argument in call.arguments:
        writer.write(argument)
    return writer


def same_answer(answer: JavaAnswer, other: JavaAnswer) -> bool:
    """Whether two calls behaved the same.

    They return equal values or throw the same class, leave their arguments equal, have the same effects, and
    do the same again.
    """
    if answer.effects != other.effects or (answer.again is None) != (other.again is None):
        return False
    if answer.again is not None and other.again is not None and not same_answer(answer.again, other.again):
        return False
    return _same_result(answer, other)


def ends_like(answer: JavaAnswer, other: JavaAnswer) -> bool:
    """Whether two calls return the same value or throw the same exception, whatever else they do."""
    if answer.value is None or other.value is None:
        return answer.value is other.value and answer.thrown == other.thrown
    return same_value(answer.value, other.value)


def _same_result(answer: JavaAnswer, other: JavaAnswer) -> bool:
    if not ends_like(answer, other) or len(answer.given) != len(other.given):
        return False
    return all(same_value(a, b) for a, b in zip(answer.given, other.given, strict=True))


def same_value(value: JavaValue, other: JavaValue) -> bool:
    """Whether two values are equal as in Java's `equals`, floats up to rounding, arrays by content."""
    tag = value[0]
    if tag != other[0]:
        return False
    if tag in {"D", "F"}:
        return close(value[1], other[1])
    if tag == "[":
        return value[1] == other[1] and _in_order(value[2], other[2])
    if tag == "L":
        kinds = _kind(value[1]), _kind(other[1])
        if kinds[0] != kinds[1]:
            return False
        return _in_any_order(value[2], other[2]) if kinds[0] != "list" else _in_order(value[2], other[2])
    if tag == "M":
        pairs = [("e", *pair) for pair in value[2]], [("e", *pair) for pair in other[2]]
        return _in_any_order(*pairs)
    if tag in {"O", "e"}:
        return len(value) == len(other) and _in_order(value[1:], other[1:])
    return value == other


def _kind(name: str) -> str:
    simple = name.removeprefix("java.util.")
    if "Set" in simple:
        return "set"
    return "queue" if simple == "PriorityQueue" else "list"


def _in_order(values: Sequence[JavaValue], other: Sequence[JavaValue]) -> bool:
    return len(values) == len(other) and all(map(same_value, values, other))


def _in_any_order(values: Sequence[JavaValue], other: Sequence[JavaValue]) -> bool:
    return _in_order(sorted(values, key=_order), sorted(other, key=_order))


def _order(value: JavaValue) -> str:
    """A key that sorts equal items of two sets to the same position."""
    tag = str(value[0])
    if tag in {"L", "["}:
        keys = list(map(_order, value[2]))
        return tag + repr(sorted(keys) if tag == "L" and _kind(value[1]) != "list" else keys)
    if tag == "M":
        return tag + repr(sorted((_order(key), _order(held)) for key, held in value[2]))
    return tag + repr([_order(part) for part in value[1:]]) if tag in {"e", "O"} else repr(value)


def describe(answer: JavaAnswer, other: JavaAnswer) -> str:
    """Describe the result of a call, for comparison with a different one."""
    result = shown_result(answer, other)
    if not _same_result(answer, other):
        return result
    if answer.effects != other.effects:
        effects = [effect for effect in answer.effects if effect not in other.effects]
        return f"{result}, and {' and '.join(effects)}" if effects else result
    if answer.again is None or other.again is None:
        return result
    return f"{result}, and the second time {shown_result(answer.again, other.again)}"


def shown_result(answer: JavaAnswer, other: JavaAnswer) -> str:
    """The same without effects and repetition."""
    if answer.value is None:
        return f"throws {answer.thrown}" if answer.thrown else f"gives a {answer.message}"
    same = other.value is not None and same_value(answer.value, other.value)
    if same and len(answer.given) == len(other.given):
        for mine, theirs in zip(answer.given, other.given, strict=True):
            if not same_value(mine, theirs):
                return f"leaves {write(mine)}"
    return write(answer.value)
