"""Inputs at the boundaries of types, and beyond the size of known ones.

Boundary values (Myers 1979, "The Art of Software Testing", chapter 4) are where programs differ that look
alike: zero, negative, empty, one item, other characters, large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, singledispatch
from itertools import islice
from typing import Any

from counterlens.python.judging.differential.inputs import Call

_TIMES = (10, 100, 1000)
_LARGE = (1 << 31, (1 << 63) + 1)
_MOST = 40  # maximum boundary values of one call
_MOST_LITERAL = 60  # maximum calls with a literal of the code or its neighbour
_SIZE = 1000  # maximum characters or items of a larger value


def boundary_calls(calls: Sequence[Call]) -> list[Call]:
    """Calls with one argument replaced by a boundary value of its type."""
    return [varied for call in calls for varied in islice(_variations(call, boundary_values), _MOST)]


def literal_calls(calls: Sequence[Call], integers: Sequence[int]) -> list[Call]:
    """Calls with one integer replaced by a literal of the code, or by a neighbour: where comparisons turn."""
    near = list(dict.fromkeys(literal + more for literal in integers for more in (0, -1, 1)))

    def literals(value: Any) -> Iterator[Any]:
        if type(value) is int:
            yield from near
        yield from _with_item(value, literals)

    varied = (other for call in calls for other in _variations(call, literals))
    return list(islice(varied, _MOST_LITERAL))


def larger_calls(calls: Sequence[Call]) -> list[Call]:
    """Calls with one argument larger or longer than that of some calls, the smallest first."""
    steps = [
        *(partial(_times, number) for number in _TIMES),
        *(partial(_instead, number) for number in _LARGE),
    ]
    return [varied for step in steps for call in calls for varied in _variations(call, step)]


def _variations(call: Call, values: Callable[[Any], Iterator[Any]]) -> Iterator[Call]:
    places: list[tuple[int | str, Any]] = [*enumerate(call.positional), *call.named]
    for place, value in places:
        yield from (call.with_value(place, other) for other in values(value))


def _times(number: int, value: Any) -> Iterator[Any]:
    """A value as many times as large, or as long, and with such an item."""
    if type(value) in (int, float):
        yield (value or 1) * number
    elif type(value) in (str, bytes, list, tuple) and value:
        yield (value * number)[:_SIZE]
    yield from _with_item(value, partial(_times, number))


def _instead(number: int, value: Any) -> Iterator[Any]:
    """A number in place of another one, or of an item."""
    if type(value) is int:
        yield from (number, -number)
    yield from _with_item(value, partial(_instead, number))


def _with_item(value: Any, others: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
    """A container with its first item, or value, replaced."""
    if type(value) in (list, tuple) and value:
        yield from (type(value)([other, *value[1:]]) for other in others(value[0]))
    elif type(value) is dict:
        for key, item in list(value.items())[:1]:
            yield from ({**value, key: other} for other in others(item))


@singledispatch
def boundary_values(value: Any) -> Iterator[Any]:  # noqa: ARG001 - a type without boundaries
    """Values of the type of a given one at its boundaries; containers also have some inside."""
    return iter(())


@boundary_values.register
def _(value: bool) -> Iterator[Any]:
    yield not value


@boundary_values.register
def _(value: int) -> Iterator[Any]:
    yield from dict.fromkeys((0, 1, -1, -2, -value))


@boundary_values.register
def _(value: float) -> Iterator[Any]:
    yield from dict.fromkeys((0.0, 0.5, 1.0, -0.5, -1.0, -value))


@boundary_values.register
def _(value: str) -> Iterator[Any]:
    yield from ("", " ", "a", "0", "é", "ßİ", "日本", "😀")
    if value:
        yield from (value.swapcase(), f" {value}", f"{value}é", f"{value}日", value[:1], value[::-1])


@boundary_values.register
def _(value: bytes) -> Iterator[Any]:
    yield from (b"", b"\0", b"\xff", value + b"\xff")


@boundary_values.register(list)
@boundary_values.register(tuple)
def _(value: Any) -> Iterator[Any]:
    kind = type(value)
    if kind is list or not value:
        yield kind()
    if not value:
        return
    if kind is list:
        yield from (value[:1], value + value, value[::-1])
    for other in boundary_values(value[0]):
        yield kind([other, *value[1:]])
        if kind is list and len(value) > 1:
            yield [other for _ in value]
    if len(value) > 1:
        for other in boundary_values(value[-1]):
            yield kind([*value[:-1], other])


@boundary_values.register(set)
@boundary_values.register(frozenset)
def _(value: Any) -> Iterator[Any]:
    yield type(value)()
    for item in sorted(value, key=repr)[:1]:
        yield type(value)([item])
        yield from (type(value)([*value, other]) for other in boundary_values(item))


@boundary_values.register
def _(value: dict) -> Iterator[Any]:  # type: ignore[type-arg]
    yield {}
    for key, item in list(value.items())[:1]:
        yield {key: item}
        yield from ({**value, key: other} for other in boundary_values(item))
        yield from ({**value, other: item} for other in boundary_values(key))
