"""Plain values between processes: what is one comes back as it was, and nothing else passes for one."""

from __future__ import annotations

import datetime
import json
import uuid
from collections import OrderedDict
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from counterlens.python.judging.sandboxed import plain

MOMENT = datetime.datetime(2024, 2, 29, 12, 30, 1, 5)
PLAIN = [
    None, True, "x\ud800", 0, -(1 << 53), 10**40, 0.1, float("inf"), 1 - 2j, b"\x00\xff", bytearray(b"ab"),
    ..., NotImplemented, int, ValueError, range(1, 9, 2), slice(None, 3), Decimal("1.50"), Fraction(-1, 3),
    MOMENT, MOMENT.date(), MOMENT.time(), MOMENT.replace(tzinfo=datetime.UTC), datetime.timedelta(1, 2, 3),
    uuid.UUID(int=7), Path("a/b"), PurePosixPath("?"),
]  # fmt: skip


class Number(int):
    pass


class Level(IntEnum):
    LOW = 1


def named(name: str, base: type) -> Any:
    """An instance of a class that calls itself as one of the library's."""
    kind = type(name, (base,), {"__module__": base.__module__, "__qualname__": name})
    return kind(1)


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_a_plain_value_comes_back_as_it_was(value: object) -> None:
    back = plain.decode(json.loads(json.dumps(plain.encode(value))))
    assert type(back) is type(value)
    assert back == value
    assert repr(back) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        Number(3),
        Level.LOW,
        Number,
        named("Decimal", Decimal),
        named("Fraction", Fraction),
        slice(Number(1)),
        MOMENT.replace(tzinfo=ZoneInfo("Europe/Berlin")),
        [1],
        OrderedDict(),
        object(),
        len,
        json,
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_the_exact_type_is_plain(value: object) -> None:
    assert plain.encode(value) is plain.NOT_PLAIN


@pytest.mark.parametrize(
    "form",
    [
        ["m", "Popen", "true"],
        ["m", "bytearray", 1 << 40],
        ["m", "range", ["m", "range", 1]],
        ["type", "print"],
        ["type", "__import__"],
        ["single", "Ellipsis"],
        ["eval", "1"],
        ["i", 5],
        [],
        {"i": "0x5"},
        1.5,
    ],
    ids=repr,
)
def test_a_forged_form_is_refused(form: object) -> None:
    with pytest.raises((ValueError, TypeError, KeyError, IndexError)):
        plain.decode(form)


def test_a_module_of_the_user_that_is_called_like_one_of_the_library_is_no_trouble(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    value = Fraction(1, 3)
    monkeypatch.setattr(plain, "_kinds", {})
    monkeypatch.setitem(__import__("sys").modules, "fractions", json)
    assert plain.encode(value) is plain.NOT_PLAIN
