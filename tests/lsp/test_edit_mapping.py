"""Ranges carried over an edit: where the words are the same, and never in the middle of one."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from counterlens.lsp.known_results import OffsetMap

TEXT = st.text(alphabet="ab_ \n(=é", max_size=24)
WORD = re.compile(rb"\w+")


@given(before=TEXT, cut=TEXT, put=TEXT, after=TEXT)
def test_what_is_carried_reads_the_same(before: str, cut: str, put: str, after: str) -> None:
    old, new = (before + cut + after).encode(), (before + put + after).encode()
    mapping = OffsetMap.between(old, new)
    for word in WORD.finditer(old):
        place = mapping.moved(*word.span())
        if place is not None:
            assert new[slice(*place)] == word[0]


@given(before=TEXT, after=TEXT)
def test_nothing_is_lost_where_nothing_changed(before: str, after: str) -> None:
    text = f"{before} {after}".encode()
    mapping = OffsetMap.between(text, text)
    assert all(mapping.moved(*word.span()) == word.span() for word in WORD.finditer(text))


def test_a_line_above_moves_a_word_and_letters_at_its_edge_lose_it() -> None:
    old = b"    one\n    two\n"
    two = (12, 15)
    assert OffsetMap.between(old, b"    new\n" + old).moved(*two) == (20, 23)
    assert OffsetMap.between(old, old[:15] + b"s\n").moved(*two) is None
    assert OffsetMap.between(old, old[:12] + b"x" + old[12:]).moved(*two) is None
    assert OffsetMap.between(old, old[:15] + b"  # why\n").moved(*two) == two
    assert OffsetMap.between(old, old[:13] + b"h" + old[13:]).moved(*two) is None
