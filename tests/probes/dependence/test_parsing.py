"""Answers of models, tidy and untidy."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.probes.dependence.prompted import read_pairs, read_yes_no

PAIR = st.tuples(st.integers(0, 20), st.integers(0, 20))


@pytest.mark.parametrize(
    "text",
    [
        '{"pairs": [[1, 2], [3, 4]]}',
        "[[1,2],[3,4]]",
        "(1, 2), (3, 4)",
        "1 -> 2\n3 -> 4",
        "line 1 → line 2, line 3 → line 4",
        "Statement 2 depends on statement 1.\nStatement 4 is control dependent on statement 3.",
        "```json\n[[1, 2], [3, 4]]\n```",
        "1: 2\n3: 4",
    ],
)
def test_forms_that_are_understood(text: str) -> None:
    answer = read_pairs(text, range(6))
    assert answer.pairs == {(1, 2), (3, 4)}
    assert answer.readable, answer


@pytest.mark.parametrize(
    "text",
    ['{"pairs": [[A, B], ...]}', '{"pairs": [[1, 2], ...]}', '[[1, 2], "..."]', "[[1, 2], …]", "[n, m]"],
)
def test_a_placeholder_of_the_instruction_is_no_answer(text: str) -> None:
    answer = read_pairs(text, range(6))
    assert (answer.pairs, answer.unreadable, answer.readable) == (frozenset(), (text,), False)


def test_points_in_prose_are_no_placeholder() -> None:
    assert read_pairs("Well... [[1, 2]] and so on...", range(6)).pairs == {(1, 2)}


def test_what_cannot_be_read_is_told() -> None:
    answer = read_pairs("[[1, 2], [3, 99], [1, 2], x5, 4", range(6), cut_off=True)
    assert answer.pairs == {(1, 2)}
    assert answer.impossible == ((3, 99),)
    assert answer.repeated == 1
    assert answer.unreadable == ("x5", "4")
    assert answer.cut_off
    assert not answer.readable


def test_none_is_an_answer_and_chatter_is_not() -> None:
    assert read_pairs("There are none.", range(3)).readable
    assert read_pairs('{"pairs": []}', range(3)).readable
    assert read_pairs("What a lovely function!", range(3)).unreadable == ("What a lovely function!",)
    assert read_pairs("", range(3)).unreadable == ("",)


@given(st.lists(PAIR))
def test_json_comes_back_whole(pairs: list[tuple[int, int]]) -> None:
    answer = read_pairs(json.dumps({"pairs": pairs}), range(21))
    assert answer.pairs == set(pairs)
    assert answer.repeated == len(pairs) - len(set(pairs))
    assert answer.readable


@given(st.lists(PAIR), st.integers(0, 200))
def test_an_answer_that_is_cut_off_gives_only_what_was_said(pairs: list[tuple[int, int]], cut: int) -> None:
    text = json.dumps(pairs)[:cut]
    assert read_pairs(text, range(21), cut_off=True).pairs <= set(pairs)


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    answer = read_pairs(text, range(5))
    assert all(source in range(5) and target in range(5) for source, target in answer.pairs)
    if not answer.pairs and answer.readable:
        assert any(word in text.lower() for word in ("no", "empty", "[")), text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" yes", True),
        ("No, it does not.", False),
        ("Yes. No other does.", True),
        ("yes and no", None),
        ("perhaps", None),
        ("", None),
    ],
)
def test_yes_and_no(text: str, said: bool | None) -> None:
    assert read_yes_no(text) is said
