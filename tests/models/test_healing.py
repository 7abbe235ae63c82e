"""Fitting an answer from before the trailing whitespace to the prompt as it was."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.models.healing import WHITESPACE, Contradiction, reconcile, split

blanks = st.text(" \t", max_size=6)
gaps = st.text(WHITESPACE, max_size=8)
code = st.text("abc(=:)# \n\t", min_size=1, max_size=30).filter(lambda text: text[0] not in WHITESPACE)
breaks = st.sampled_from(["\n", "\r\n", "\n\n", "\n  \n"])


def lines(text: str) -> list[str]:
    """The lines of a program that are not blank, line breaks aside."""
    return [line for line in re.split(r"\r\n|\n|\r", text) if line.strip(WHITESPACE)]


@pytest.mark.parametrize(
    ("gap", "answer", "text"),
    [
        ("", "x", "x"),
        ("\n", "\n    return x\n", "    return x\n"),
        ("\n    ", "\n    return x", "return x"),
        ("\n    ", "\n        return x", "    return x"),
        ("\n        ", "\n    return x", "\n    return x"),
        ("\r\n        ", "\n    return x", "\r\n    return x"),
        ("\n\n\n", "\n    y", "    y"),
        ("\r\n", "\n  y", "  y"),
        ("\n", "\r\n  y", "  y"),
        ("\n", "  # count them\n    y", "    y"),
        ("\n", "  # nothing but this", ""),
        ("\n", "", ""),
        ("\n", "\n\n", "\n"),
        ("\n    ", "\n", ""),
        (" ", " x", "x"),
        ("  ", " x", "x"),
        (" ", "\tx", "x"),
        (" ", "\n    x", "\n    x"),
    ],
)
def test_the_rule(gap: str, answer: str, text: str) -> None:
    assert reconcile(gap, answer) == text


@pytest.mark.parametrize(("gap", "answer"), [("\n", " return x"), (" ", "_value"), ("\n    ", ".strip()")])
def test_an_answer_that_goes_on_before_the_gap_contradicts_it(gap: str, answer: str) -> None:
    with pytest.raises(Contradiction):
        reconcile(gap, answer)


@given(st.text("ab :\n\t", max_size=20))
def test_splitting_loses_nothing_and_leaves_something_to_send(text: str) -> None:
    head, gap = split(text)
    assert head + gap == text
    assert not gap or (not gap.strip(WHITESPACE) and head[-1] not in WHITESPACE)
    assert bool(head) == bool(text)


@given(gaps, code)
def test_a_model_that_writes_the_gap_again_is_taken_at_its_word(gap: str, rest: str) -> None:
    assert reconcile(gap, gap + rest) == rest


@given(breaks, blanks, breaks, blanks, code)
def test_after_a_line_break_the_program_is_what_the_model_meant(
    gap_break: str, gap_indent: str, answer_break: str, answer_indent: str, rest: str
) -> None:
    gap, answer = gap_break + gap_indent, answer_break + answer_indent + rest
    text = reconcile(gap, answer)
    assert text is not None
    assert lines("if x:" + gap + text) == lines("if x:" + answer)


@given(gaps, st.text("ab#: \n\t", max_size=25))
def test_what_is_told_early_still_holds_at_the_end(gap: str, answer: str) -> None:
    def told(part: str, *, complete: bool) -> str | None:
        try:
            return reconcile(gap, part, complete=complete)
        except Contradiction:
            return "contradiction"

    final = told(answer, complete=True)
    assert final is not None
    for length in range(len(answer)):
        early = told(answer[:length], complete=False)
        assert early is None or final.startswith(early)
