"""Inputs like those of the tests: what all calls that the tests make have in common.

A right program may do anything with inputs that its function is not meant for, and tests say what it is meant
for better than types do. So a value is like some values if the likely invariants of these hold for it, too
(Ernst et al. 2001, "Dynamically discovering likely program invariants"): type, sign, order of magnitude,
size, kinds of characters, format, order, distinct items; and for calls, which of two arguments is larger. Any
other value departs from them in a way that has a name.
"""

from __future__ import annotations

import math
import re
import string
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from counterlens.python.judging.differential.inputs import Hints
from counterlens.python.judging.differential.shapes import Strategy, repetitive

FEW = 4
"""Minimum number of values for an invariant that may hold by chance."""
_LARGEST = 10**6  # literals above are not drawn
_LONGEST = 60  # maximum characters of a text of which letters are replaced
_CLASSES = {"a": string.ascii_lowercase, "A": string.ascii_uppercase, "0": string.digits}


class Likeness(ABC):
    """What some values of one type have in common."""

    @abstractmethod
    def departure(self, value: Any) -> str | None:
        """How a value of that type differs from all of them, such as `negative`; None if it is like them."""

    @abstractmethod
    def strategy(self) -> Strategy:
        """Values, nearly all of which are like them."""


class ValueLikeness:
    """What some values have in common, by type."""

    def __init__(self, values: Sequence[Any], hints: Hints) -> None:
        groups: dict[type, list[Any]] = defaultdict(list)
        for value in values:
            groups[type(value)].append(value)
        self._kinds: dict[type, Likeness] = {
            kind: _KINDS.get(kind, _Choice)(group, hints) for kind, group in groups.items()
        }

    def departure(self, value: Any) -> str | None:
        """How a value differs from all of them; None if it is like them."""
        kind = self._kinds.get(type(value))
        return "of another type" if kind is None else kind.departure(value)

    @cached_property
    def strategy(self) -> Strategy:
        """Values, nearly all of which are like them."""
        return st.one_of([kind.strategy() for kind in self._kinds.values()]) if self._kinds else st.nothing()


class _Choice(Likeness):
    def __init__(self, values: Sequence[Any], _hints: Hints) -> None:
        self._values = [*values, *((True, False) if type(values[0]) is bool else ())]

    def departure(self, value: Any) -> str | None:
        return None if value in self._values else "another value"

    def strategy(self) -> Strategy:
        return st.sampled_from(self._values)


class _Numbers(Likeness):
    def __init__(self, values: Sequence[Any], hints: Hints) -> None:
        self._values = values
        finite = [value for value in values if _is_finite(value)]
        digits = [_digits(value) for value in finite if value]
        self._digits = range(min(digits), max(digits) + 1) if digits else range(0)
        self._constant = len(values) >= FEW and len(set(values)) == 1
        self._zero, self._negative = 0 in values, any(value < 0 for value in finite)
        self._decimals = max([len(repr(value).partition(".")[2]) for value in finite] or [0])
        near = [n + more for n in hints.integers if abs(n) < _LARGEST for more in (-1, 0, 1)]
        drawn = near if type(values[0]) is int else [*map(float, near), *hints.floats]
        self._near = [value for value in drawn if self.departure(value) is None]

    def departure(self, value: Any) -> str | None:
        if value in self._values:
            return None
        if not _is_finite(value):
            return "not finite"
        if value == 0 and not self._zero:
            return "zero"
        if value < 0 and not self._negative:
            return "negative"
        if self._constant:
            return "another value"
        if not value or _digits(value) in self._digits:
            return None
        return "larger" if _digits(value) >= self._digits.stop else "smaller"

    def strategy(self) -> Strategy:
        if self._constant or not self._digits:
            return st.sampled_from(self._values)
        digits = self._digits
        low = 10 ** (digits.start - 1) if digits.start else 0
        high = 10 ** (digits.stop - 1) - 1 if digits.stop > 1 else 1
        largest = max(map(abs, filter(_is_finite, self._values)))
        parts = [st.sampled_from(self._values), self._between(low, high)]
        parts += [self._between(low, max(low, min(high, largest)))]
        parts += [self._between(-high, -low)] if self._negative else []
        parts += [st.just(type(self._values[0])(0))] if self._zero else []
        parts += [st.sampled_from(self._near)] if self._near else []
        return st.one_of(parts)

    def _between(self, low: float, high: float) -> Strategy:
        if type(self._values[0]) is int:
            return st.integers(math.ceil(low), math.floor(high))
        scale = 10 ** min(self._decimals, 6)
        return st.integers(round(low * scale), round(high * scale)).map(lambda number: number / scale)


def _is_finite(number: float) -> bool:
    return isinstance(number, int) or math.isfinite(number)


def _digits(number: float) -> int:
    """The order of magnitude: the digits of the integral part, 0 below 1."""
    whole = abs(int(number))
    return len(str(whole)) if whole.bit_length() < 10_000 else whole.bit_length()


class _Sizes:
    """What some sizes have in common."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.low, most = min(sizes), max(sizes)
        self._constant = len(sizes) >= 2 and self.low == most
        self._empty = 0 in sizes
        self._high = most if self._constant else 10 ** len(str(most)) - 1
        self.high = min(self._high, 2 * most + 1)

    def departure(self, size: int) -> str | None:
        if size == 0:
            return None if self._empty else "empty"
        return "shorter" if size < self.low else "longer" if size > self._high else None


class _Texts(Likeness):
    def __init__(self, values: Sequence[str], _hints: Hints) -> None:
        self._values = values
        self._sizes = _Sizes([len(value) for value in values])
        self._held = sorted(set("".join(values)))
        self._classes = {_class(character) for character in self._held}
        exact = {"".join(map(_class, value)) for value in values}
        self._shaped: Callable[[str], str] = _runs if len(exact) > 1 else str
        shapes = set(map(self._shaped, exact))
        formatted = len(values) > 1 and len(shapes) == 1 and not min(shapes).isalnum()
        self._shape = min(shapes) if formatted else None

    def departure(self, value: str) -> str | None:
        if value in self._values:
            return None
        new = [character for character in value if _class(character) not in self._classes]
        if new:
            return "with other characters" if "".join(new).isascii() else "with Unicode characters"
        if self._shape is not None and self._shaped("".join(map(_class, value))) != self._shape:
            return "in another format"
        return self._sizes.departure(len(value))

    def strategy(self) -> Strategy:
        short = [value for value in self._values if len(value) <= _LONGEST]
        parts = [st.sampled_from(self._values)]
        parts += [st.sampled_from(short).flatmap(_similar_texts)] * 2 if short else []
        if self._shape is None and self._held:
            low, high = self._sizes.low, self._sizes.high
            every = [each for name in sorted(self._classes) for each in _CLASSES.get(name, name)]
            parts += [
                st.text(st.sampled_from(each), min_size=low, max_size=high) for each in (self._held, every)
            ]
            parts.append(repetitive(st.sampled_from(self._held), low, high).map("".join))
        words = sorted({word for value in self._values for word in value.split(" ")} | {""})
        if " " in self._classes and self._shape is None:
            most = max(value.count(" ") for value in self._values) + 2
            parts.append(st.lists(st.sampled_from(words), min_size=1, max_size=most).map(" ".join))
        return st.one_of(parts)


def _class(character: str) -> str:
    """The class of a character: a small, a large letter, a digit; any other is a class of its own."""
    return next((name for name, members in _CLASSES.items() if character in members), character)


def _runs(classes: str) -> str:
    """The classes of a text's characters with one for each run of letters or of digits."""
    return re.sub(r"([aA0])\1+", r"\1", classes)


def _similar_texts(text: str) -> Strategy:
    """A text, with some letters and digits replaced by others of their class."""
    parts = [st.just(each) | st.sampled_from(_CLASSES.get(_class(each), each)) for each in text]
    return st.tuples(*parts).map("".join)


class _Bytes(Likeness):
    def __init__(self, values: Sequence[bytes], _hints: Hints) -> None:
        self._values, self._sizes = values, _Sizes([len(value) for value in values])
        self._held = set(b"".join(values))

    def departure(self, value: bytes) -> str | None:
        if not set(value) <= self._held:
            return "with other bytes"
        return self._sizes.departure(len(value))

    def strategy(self) -> Strategy:
        if not self._held:
            return st.sampled_from(self._values)
        item = st.sampled_from(sorted(self._held))
        drawn = st.lists(item, min_size=self._sizes.low, max_size=self._sizes.high)
        return st.sampled_from(self._values) | drawn.map(bytes)


def _is_sorted(values: Sequence[Any]) -> bool:
    return all(item <= after for item, after in pairwise(values))


def _is_falling(values: Sequence[Any]) -> bool:
    return _is_sorted(values[::-1])


def _distinct(values: Sequence[Any]) -> bool:
    return len(set(map(repr, values))) == len(values)


def _even(values: Sequence[Any]) -> bool:
    """Whether its items are equally long."""
    return len({len(each) if isinstance(each, list | tuple) else -1 for each in values}) <= 1


_ORDERS: tuple[tuple[str, Callable[[Sequence[Any]], bool], Callable[[list[Any]], list[Any]]], ...] = (
    ("in another order", _is_sorted, sorted),
    ("in another order", _is_falling, lambda items: sorted(items, reverse=True)),
    ("with repeated items", _distinct, lambda items: list({repr(item): item for item in items}.values())),
    ("with uneven rows", _even, lambda items: [each for each in items if _even([items[0], each])]),
)  # fmt: skip
"""What may hold for the items of all values: the name of its opposite, the test, what makes it hold."""


class _Items(Likeness):
    """Lists, tuples of several lengths, and sets."""

    def __init__(self, values: Sequence[Any], hints: Hints) -> None:
        self._values = values
        self._sizes = _Sizes([len(value) for value in values])
        self._items = ValueLikeness([item for value in values for item in _items_of(value)], hints)
        several = [_items_of(value) for value in values if len(value) > 1]
        self._orders = [
            order
            for order in _ORDERS
            if len(several) >= FEW - 1 and all(_holds(order[1], each) for each in several)
        ]

    def departure(self, value: Any) -> str | None:
        items = _items_of(value)
        ways = (self._items.departure(item) for item in items)
        orders = (name for name, holds, _ in self._orders if not _holds(holds, items))
        return (
            next((way for way in ways if way), None)
            or next(orders, None)
            or self._sizes.departure(len(items))
        )

    def strategy(self) -> Strategy:
        kind, low, high = type(self._values[0]), self._sizes.low, self._sizes.high
        observed_items = st.sampled_from(self._values).map(_items_of)
        item = self._items.strategy
        parts = [observed_items, observed_items.flatmap(st.permutations)]
        if not item.is_empty:
            parts += [st.lists(item, min_size=low, max_size=high)] * 2
            parts.append(repetitive(item, low, high))
        return st.one_of(parts).map(lambda items: kind(self._ordered(list(items))))

    def _ordered(self, items: list[Any]) -> list[Any]:
        for _, holds, order in self._orders:
            if not _holds(holds, items):
                try:
                    items = order(items)
                except TypeError:
                    continue
        return items


def _items_of(value: Any) -> list[Any]:
    """The items of a container; those of a set in a fixed order."""
    return sorted(value, key=repr) if isinstance(value, set | frozenset) else list(value)


def _holds(test: Callable[[Sequence[Any]], bool], items: Sequence[Any]) -> bool:
    try:
        return test(items)
    except TypeError:
        return False


class _Rows(Likeness):
    """Tuples: of one length, by column."""

    def __init__(self, values: Sequence[tuple[Any, ...]], hints: Hints) -> None:
        self._columns = [ValueLikeness(column, hints) for column in zip(*values, strict=True)]

    def departure(self, value: tuple[Any, ...]) -> str | None:
        if len(value) != len(self._columns):
            return "longer" if len(value) > len(self._columns) else "shorter"
        ways = (column.departure(item) for column, item in zip(self._columns, value, strict=True))
        return next((way for way in ways if way), None)

    def strategy(self) -> Strategy:
        return st.tuples(*[column.strategy for column in self._columns])


def _tuples(values: Sequence[tuple[Any, ...]], hints: Hints) -> Likeness:
    return _Rows(values, hints) if len({len(value) for value in values}) == 1 else _Items(values, hints)


class _Mappings(Likeness):
    def __init__(self, values: Sequence[dict[Any, Any]], hints: Hints) -> None:
        self._values = values
        self._sizes = _Sizes([len(value) for value in values])
        self._keys = ValueLikeness([key for value in values for key in value], hints)
        self._held = ValueLikeness([item for value in values for item in value.values()], hints)
        self._columns = (
            {key: ValueLikeness([value[key] for value in values], hints) for key in values[0]}
            if len({frozenset(map(repr, value)) for value in values}) == 1
            else None
        )

    def departure(self, value: dict[Any, Any]) -> str | None:
        if self._columns is not None:
            if set(value) != set(self._columns):
                return "with other keys" if value else "empty"
            ways = [self._columns[key].departure(item) for key, item in value.items()]
        else:
            ways = [self._keys.departure(key) for key in value]
            ways += [self._held.departure(item) for item in value.values()]
        return next((way for way in ways if way), None) or self._sizes.departure(len(value))

    def strategy(self) -> Strategy:
        if self._columns is not None:
            return st.fixed_dictionaries({key: each.strategy for key, each in self._columns.items()})
        sizes = self._sizes
        drawn = st.dictionaries(self._keys.strategy, self._held.strategy, min_size=0, max_size=sizes.high)
        return st.sampled_from(self._values) | drawn


_KINDS: dict[type, Callable[[Sequence[Any], Hints], Likeness]] = {
    int: _Numbers, float: _Numbers, str: _Texts, bytes: _Bytes, list: _Items, set: _Items,
    frozenset: _Items, tuple: _tuples, dict: _Mappings,
}  # fmt: skip
