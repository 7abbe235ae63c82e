"""Marks of docstrings: the smallest edit of whole lines, and words that accuse neither docstring nor code."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from counterlens.doubt.disagreeing import DisagreeingFunction
from counterlens.doubt.edits import smallest_edit
from counterlens.doubt.generating import scopes
from counterlens.reports.export.doubts import mark_data, mark_sentence
from counterlens.syntax.document import Document

SOURCE = 'def half(n):\n    """Return half of n, rounded up."""\n    return n // 2\n'
lines = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "é"]), max_size=6).map("".join)


@given(lines, lines)
def test_an_edit_turns_one_text_into_the_other(before: str, after: str) -> None:
    old, new = before.encode(), after.encode()
    start, end, text = smallest_edit(old, new)
    assert 0 <= start <= end <= len(old)
    assert old[:start] + text.encode() + old[end:] == new
    if old == new:
        assert (start, text) == (end, "")


def test_a_line_that_does_not_change_is_not_in_the_edit() -> None:
    assert smallest_edit(b"a\nb\nc\n", b"a\nx\ny\nc\n") == (2, 4, "x\ny\n")


def mark_in(source: str, **changed: object) -> DisagreeingFunction:
    (scope,) = scopes(Document(source))
    told = {"call": "half(3)", "code": "1", "raises": False, "versions": "2", "agreeing": 5, "of": 6}
    edit = smallest_edit(source.encode(), source.replace("n // 2", "-(-n // 2)").encode())
    return DisagreeingFunction(scope=scope, **told | {"tested": False, "edit": edit} | changed)  # type: ignore[arg-type]


def test_a_mark_says_what_both_do_and_moves_with_its_function() -> None:
    mark = mark_in(SOURCE)
    said = "`half(3)` returns 1; 5 of 6 versions written from the docstring return 2"
    assert mark_sentence(mark) == f"docstring and code disagree: {said}"
    assert "`half(3)` raises TypeError;" in mark_sentence(mark_in(SOURCE, raises=True, code="TypeError"))
    data = mark_data(mark)
    assert (data["kind"], data["text"], data["line"], data["tests"]) == ("docstring", "half", 1, "none")
    above = f"import os\n\n\n{SOURCE}"
    moved = mark.within(scopes(Document(above))[0])
    start, end, text = moved.edit
    assert above[:start] + text + above[end:] == above.replace("n // 2", "-(-n // 2)")
    assert mark_data(moved)["line"] == 4
