"""Java values in readable form, and their size."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from counterlens.sandbox.java.values import COLLECTIONS, MAPS, NULL, JavaValue

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
