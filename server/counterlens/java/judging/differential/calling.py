"""Calls of a program's method in its JVM: as text, and the result of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from counterlens.java.judging.bench import HeldProgram
from counterlens.java.judging.differential.target import JavaTarget
from counterlens.judging.comparison import close
from counterlens.sandbox.java.values import (
    COLLECTIONS,
    MAPS,
    NULL,
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


_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", "\b": "\\b", "\f": "\\f"}
_MARK = '"'
SequenceT = TypeVar("SequenceT", str, tuple[Any, ...])


_LITERALS: Mapping[str, Callable[[JavaValue], str]] = {
    "n": lambda _: "null",
    "I": lambda value: str(value[1]),
    "S": lambda value: str(value[1]),
    "B": lambda value: str(value[1]),
    "J": lambda value: f"{value[1]}L",
    "D": lambda value: repr(value[1]),
    "F": lambda value: f"{value[1]!r}f",
    "Z": lambda value: "true" if value[1] else "false",
    "C": lambda value: quote(value[1], "'"),
    "s": lambda value: quote(value[1], '"'),
    "b": lambda value: f"new StringBuilder({quote(value[1], _MARK)})",
    "i": lambda value: f'new BigInteger("{value[1]}")',
    "d": lambda value: f"BigDecimal.valueOf({value[1]}L, {value[2]})",
    "e": lambda value: f"Map.entry({write(value[1])}, {write(value[2])})",
    "O": lambda value: "Optional.empty()" if value[1] == NULL else f"Optional.of({write(value[1])})",
    "[": lambda value: f"new {component_name(value[1])}[] {{{', '.join(map(write, value[2]))}}}",
    "L": lambda value: _collection(value),
    "M": lambda value: _collection(value),
}


def write(value: JavaValue) -> str:
    """A value roughly as a Java expression, for display."""
    return _LITERALS[value[0]](value) if value[0] in _LITERALS else "(itself)"


def quote(text: str, mark: str) -> str:
    """A text as Java writes it between quotation marks."""
    escapes = {**_ESCAPES, mark: f"\\{mark}"}
    shown = text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")
    parts = (escapes.get(each) or (each if each.isprintable() else f"\\u{ord(each):04x}") for each in shown)
    return mark + "".join(parts) + mark


def component_name(name: str) -> str:
    """The component of an array as Java writes it, from the name that its class has."""
    dimensions = len(name) - len(name.lstrip("["))
    base = name.lstrip("[")
    if dimensions:
        primitives = {"Z": "boolean", "B": "byte", "S": "short", "C": "char"}
        primitives |= {"I": "int", "J": "long", "F": "float", "D": "double"}
        base = primitives.get(base) or base.removeprefix("L").removesuffix(";")
    return base.rpartition(".")[2] + "[]" * dimensions


def _collection(value: JavaValue) -> str:
    tag, name, items = value
    simple = re.sub(r".*[.$]", "", name)
    if tag == "M":
        inside = f"Map.of({', '.join(f'{write(k)}, {write(v)}' for k, v in items)})"
    else:
        inside = f"{'Set' if simple.endswith('Set') else 'List'}.of({', '.join(map(write, items))})"
    plain = simple not in {*COLLECTIONS, *MAPS} or simple in {"ArrayList", "HashSet", "HashMap"}
    return inside if plain else f"new {simple}<>({inside})"


def size_of(value: JavaValue) -> int:
    """The size of a value, for choosing the smallest of several."""
    tag = value[0]
    if tag in {"I", "J", "S", "B", "i"}:
        number = int(value[1])
        return 1 + (0 if number in range(-9, 10) else abs(number).bit_length()) + (number < 0)
    if tag in {"s", "b"}:
        return 2 + 2 * len(str(value[1]))
    if tag in {"D", "F"}:
        return 2 + (0 if value[1] in range(-9, 10) else 8)
    if tag in {"[", "L"}:
        return 2 + sum(map(size_of, value[2]))
    if tag == "M":
        return 2 + sum(size_of(key) + size_of(held) for key, held in value[2])
    return 2


def simpler(value: JavaValue) -> Iterator[JavaValue]:
    """Values one step simpler than the given one, of the same class, the largest steps first."""
    tag = value[0]
    if tag in {"I", "J", "S", "B", "i", "D", "F"}:
        yield from _simpler_number(value)
    elif tag in {"s", "b"}:
        yield from _simpler_text(value)
    elif tag in {"[", "L", "M"}:
        yield from _simpler_container(value)


def _simpler_number(value: JavaValue) -> Iterator[JavaValue]:
    tag, number = value
    whole = tag not in {"D", "F"}
    for less in (0, 1, abs(number) // 2, abs(number) - 1, -number) if whole else (0.0, 1.0):
        if size_of((tag, less)) < size_of(value):
            yield tag, less


def _simpler_text(value: JavaValue) -> Iterator[JavaValue]:
    tag, text = value
    for shorter in _shorter(text):
        yield tag, shorter
    for at, sign in enumerate(text):
        if sign not in "a0 ":
            yield tag, text[:at] + ("0" if sign.isdigit() else "a") + text[at + 1 :]


def _simpler_container(value: JavaValue) -> Iterator[JavaValue]:
    tag, name, items = value
    for shorter in _shorter(items):
        yield tag, name, shorter
    if tag != "M" and "Set" not in name:
        for at, item in enumerate(items):
            for less in simpler(item):
                yield tag, name, (*items[:at], less, *items[at + 1 :])


def _shorter(items: SequenceT) -> Iterator[SequenceT]:
    half = len(items) // 2
    if half > 1:
        yield items[:half]
        yield items[half:]
    for at in range(len(items)):
        yield items[:at] + items[at + 1 :]
