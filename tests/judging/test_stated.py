"""Examples that a docstring states in prose: which are read, and what contradicts them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.python.judging.stated import contradicts, stated_examples

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.integers(), inner, max_size=2),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("f(3) == 1.5", {"f(3)": 1.5}),
        (">>> f(3) == 6\n>>> f(-1) == 0", {"f(3)": 6, "f(-1)": 0}),
        ("`f([1, 2], key=None)` -> [2, 1].", {"f([1, 2], key=None)": [2, 1]}),
        ("f('a)b') ➞ \"yes\"  # because of it", {"f('a)b')": "yes"}),
        ("f(2) should return 4, and f(3) returns 9.", {"f(2)": 4, "f(3)": 9}),
        ("f(15)   # returns 'db1111db'", {"f(15)": "db1111db"}),
        ("f(1) ==> True (it is one)", {"f(1)": True}),
        ("f() => None", {"f()": None}),
        ("f('a.txt') # => 'Yes'", {"f('a.txt')": "Yes"}),
        # No value, or none that is sure.
        ("f(2)\n4", {}),
        ("f(2) = 4, as in the definition", {}),
        ("f(5) -> 3 elements", {}),
        ("f(5) -> 100 - 2 = 98", {}),
        ("f(2) -> 3.14...", {}),
        ("f(x) -> 3", {}),
        ("f(2) -> true", {}),
        ("f(2) returns None if it is empty", {}),
        ("g.f(2) == 4; of(2) == 4", {}),
        ("f(2) == 4\nf(2) == 5", {}),
        ("f(2", {}),
        ("f(" * 300, {}),
    ],
)
def test_calls_with_their_values_are_read(text: str, stated: dict[str, Any]) -> None:
    assert repr(stated_examples(text, "f")) == repr(stated)  # 9, and not 9.0, ends a sentence


@given(st.lists(PLAIN, max_size=3), PLAIN, st.sampled_from(["==", "->", "=>", "➞", "returns", "should be"]))
def test_any_literal_is_read_and_only_another_value_contradicts(
    arguments: list[Any], value: Any, between: str
) -> None:
    call = f"f({', '.join(map(repr, arguments))})"
    stated = stated_examples(f"Say.\n\n    {call} {between} {value!r}", "f")
    assert list(stated.values()) == [value]
    assert not contradicts(stated, call, f"returned {value!r}")
    assert contradicts(stated, call, f"returned {[value, 'other']!r}")
    assert not contradicts(stated, "f('another call', 1, 2, 3)", "returned 0")


@pytest.mark.parametrize(
    ("stated", "outcome", "contradicted"),
    [
        (2.67, "returned 2.6666666", False),
        (2.67, "returned 2.6", True),
        (6.0, "returned 6", False),
        ([1, 2], "returned (1, 2)", False),
        ("Venus", "returned ('Venus',)", False),
        (3, "raised KeyError", True),
        (3, "returned <object at 0x7f>", False),
        (3, "did not end (time)", False),
        (True, "returned 1", False),
    ],
)
def test_a_result_up_to_its_digits_and_a_sequence_of_any_kind_are_what_is_stated(
    stated: Any, outcome: str, contradicted: bool
) -> None:
    assert contradicts({"f(1)": stated}, "f(1)", outcome) is contradicted
