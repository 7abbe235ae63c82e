"""Encoding values and comparing them, against Python's own `==`."""

from __future__ import annotations

import copy
import json
import math
from collections import Counter, OrderedDict, deque, namedtuple
from collections.abc import Iterator
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterlens.judging.comparison import comparable, same, show
from counterlens.python.judging.differential.inputs import Call, simpler, write
from counterlens.python.judging.sandboxed.recorder.structure import Encoder, decode

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.binary(max_size=4),
)
KEYS = st.one_of(st.integers(-3, 3), st.text(max_size=2), st.tuples(st.integers(0, 2)), st.booleans())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
        st.sets(KEYS, max_size=4),
        st.frozensets(KEYS, max_size=4),
    ),
    max_leaves=8,
)


def form(value: Any) -> Any:
    return json.loads(json.dumps(Encoder().encode(value)))


class Always:
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "3"


class Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 3

    def __int__(self) -> int:
        return 3


class Color(Enum):
    RED = 1
    BLUE = 2


Point = namedtuple("Point", "x y")


@given(VALUES)
def test_what_is_encoded_comes_back(value: Any) -> None:
    back = decode(form(value), {})
    assert back == value
    assert type(back) is type(value)
    assert comparable(form(value))


@given(VALUES, VALUES)
def test_values_are_the_same_when_they_are_equal(one: Any, other: Any) -> None:
    assert same(form(one), form(copy.deepcopy(one)))
    if one == other:
        assert same(form(one), form(other))
    elif not _nearly(one, other):
        assert not same(form(one), form(other))
    assert same(form(one), form(other)) == same(form(other), form(one))


def _nearly(one: Any, other: Any) -> bool:
    """Whether floats in them might differ by rounding alone."""
    return any(isinstance(leaf, float) for value in (one, other) for leaf in _leaves(value))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    else:
        yield value


def test_numbers() -> None:
    assert same(form(1), form(1.0))
    assert same(form(True), form(1))
    assert same(form(0.1 + 0.2), form(0.3))
    assert same(form(math.nan), form(math.nan))
    assert same(form([math.nan]), form([math.nan]))
    assert same(form(0.0), form(-0.0))
    assert not same(form(math.nan), form(0.0))
    assert not same(form(math.inf), form(-math.inf))
    assert not same(form(10**40), form(10**40 + 1))
    assert not same(form("1"), form(1))
    assert same(form({1: "a", 2.0: "b"}), form({2: "b", 1.0: "a"}))


def test_an_object_cannot_say_what_it_is_equal_to() -> None:
    assert not same(form(3), form(Always()))
    assert not same(form(3), form(Liar(4)))
    assert same(form(3), form(Liar(3)))
    assert not same(form([1]), form([Always()]))


def test_objects_of_every_kind() -> None:
    for value in (Color.RED, Point(1, 2), Counter("aab"), OrderedDict(a=1), deque([1, 2]), Decimal("1.5"),
                  Fraction(1, 3), range(3), ValueError("x", 1)):  # fmt: skip
        assert same(form(value), form(copy.deepcopy(value))), value
        assert comparable(form(value))
    assert not same(form(Color.RED), form(Color.BLUE))
    assert not same(form(Decimal("1.5")), form(Decimal("1.6")))
    assert same(form(Counter("aab")), form({"a": 2, "b": 1}))
    assert same(form(Point(1, 2)), form((1, 2)))
    assert same(form(iter([1, 2])), form(n for n in (1, 2)))
    assert same(form(lambda n: n + 1), form(lambda k: 1 + k))
    assert not same(form(lambda n: n + 1), form(lambda n: n + 2))
    assert not comparable(form([len]))
    assert not same(form(len), form(len))
    assert not comparable(form(list(range(30000))))
    ring: list[Any] = [1]
    ring.append(ring)
    assert same(form(ring), form(copy.deepcopy(ring)))


@pytest.mark.parametrize("nonsense", [["i"], ["d", 1], ["o"], ["l", ["i", "x"]], [[]], {"a": 1}, ["f", "no"]])
def test_what_the_encoder_does_not_make_is_the_same_as_nothing(nonsense: Any) -> None:
    for value in (1, [1], {"a": 1}, None, "x"):
        assert not same(form(value), nonsense)
        assert not same(nonsense, form(value))


@given(VALUES)
def test_values_are_written_as_python(value: Any) -> None:
    assert eval(write(value)) == value  # noqa: S307 - that is the claim
    if not isinstance(value, float | bytes) and "b'" not in write(value):
        assert show(form(value))


@settings(max_examples=30)
@given(VALUES)
def test_simpler_values_are_of_the_same_type_and_come_to_an_end(value: Any) -> None:
    call = Call((value,))
    for _ in range(300):
        smaller = [each for each in call.simpler() if each.size < call.size]
        if not smaller:
            break
        assert all(type(each.positional[0]) is type(value) for each in smaller)
        call = smaller[0]
    else:
        raise AssertionError("no end")
    assert list(simpler(None)) == []


@pytest.mark.parametrize("sign", [1, -1])
def test_an_integer_that_python_does_not_write_is_shown_and_compared(sign: int) -> None:
    number = sign * 10**5000
    assert int(show(form(number)), 0) == number
    assert same(form(number), form(number))
    assert not same(form(number), form(number + 1))
    assert not same(form(number), form(1.5))
    assert not same(form(number), form(1j))
    assert not same(form(number), form(math.nan))
