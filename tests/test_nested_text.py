"""JSON and TOML from outside are bounded in depth, and wrong ones have one kind of error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.nested_text import DEEPEST, TooDeepError, check_depth, parse_json, parse_toml

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inside: st.lists(inside) | st.dictionaries(TEXTS, inside),
    max_leaves=20,
)


@given(VALUES)
def test_values_are_read_as_they_are(value: Any) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_json("\ufeff".encode() + json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.integers(1, DEEPEST + 20), st.sampled_from(["[]", '{"a": }']))
def test_the_depth_is_counted(levels: int, form: str) -> None:
    opening, closing = (form[0], form[1]) if form == "[]" else ('{"a": ', "}")
    text = opening * levels + ("" if form == "[]" else "1") + closing * levels
    if levels <= DEEPEST:
        check_depth(parse_json(text))
    else:
        with pytest.raises(TooDeepError):
            parse_json(text)


@pytest.mark.parametrize(
    "text", ["[" * 20_000, "[" * 20_000 + "]" * 20_000, b"\xff", '"\\ud800"', "1" * 5_000, "{", ""]
)
def test_wrong_json_has_one_kind_of_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_json(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 20_000,
        f"x = {'[' * 20_000}{']' * 20_000}",
        f"{'a.' * 200}b = 1",
        "x = " + "1" * 5_000,
        "=",
    ],
)
def test_wrong_toml_has_one_kind_of_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_toml(text)
