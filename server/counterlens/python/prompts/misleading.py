"""Outputs that contradict a specification (Liu et al. 2024, section IV-C: misleading tests)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
