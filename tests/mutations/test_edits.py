"""Rendering edits over byte ranges."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from counterlens.mutations.edits import Edit, Slice, exchange, insert, render, replace


def test_without_edits_nothing_changes() -> None:
    rendered = render(b"abc", ())
    assert (rendered.data, rendered.changes) == (b"abc", ())


def test_edits_inside_a_moved_slice_move_with_it() -> None:
    data = b"first(1) second(2)"
    edits = (*exchange((0, 8), (9, 18)), replace(6, 7, "one"), replace(16, 17, "two"))
    assert render(data, edits).data == b"second(two) first(one)"


def test_an_exchange_inside_an_exchange() -> None:
    data = b"[a b] [c d]"
    edits = (*exchange((0, 5), (6, 11)), *exchange((1, 2), (3, 4)), *exchange((7, 8), (9, 10)))
    assert render(data, edits).data == b"[d c] [b a]"


def test_an_insertion_at_the_edge_of_a_slice_stays_where_it_is() -> None:
    data = b"ab"
    assert render(data, (*exchange((0, 1), (1, 2)), insert(1, "-"))).data == b"b-a"
    assert render(data, (insert(2, "!"), insert(0, "!"))).data == b"!ab!"


def test_a_slice_that_an_edit_replaces_is_what_stood_there() -> None:
    edits = (Edit(0, 0, (Slice(3, 6), "; ")), replace(3, 6, "new"))
    assert render(b"if old:", edits).data == b"old; if new:"


def test_changes_and_points_say_where_everything_went() -> None:
    rendered = render(b"aXbYc", (replace(1, 2, "123"), replace(3, 4, "")), points=(0, 2, 3, 4, 5))
    assert rendered.data == b"a123bc"
    assert [(c.original, c.mutated) for c in rendered.changes] == [((1, 2), (1, 4)), ((3, 4), (5, 5))]
    assert rendered.points == {0: 0, 2: 4, 4: 5, 5: 6}


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=12), st.text(max_size=3))
def test_what_no_edit_names_survives(data: bytes, cuts: list[int], text: str) -> None:
    places = sorted({min(cut, len(data)) for cut in cuts})
    spans = list(zip(places[::2], places[1::2], strict=False))
    rendered = render(data, [replace(start, end, text) for start, end in spans])
    expected, at = b"", 0
    for start, end in spans:
        expected += data[at:start] + text.encode()
        at = end
    assert rendered.data == expected + data[at:]
    for change in rendered.changes:
        assert rendered.data[slice(*change.mutated)] == text.encode()
