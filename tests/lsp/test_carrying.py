"""Ranges carried over an edit: where the words are the same, and never in the middle of one."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from counterlens.lsp.carrying import Carrier

TEXT = st.text(alphabet="ab_ \n(=é", max_size=24)
WORD = re.compile(rb"\w+")


@given(before=TEXT, cut=TEXT, put=TEXT, after=TEXT)
def test_what_is_carried_reads_the_same(before: str, cut: str, put: str, after: str) -> None:
    old, new = (before + cut + after).encode(), (before + put + after).encode()
    carrier = Carrier.between(old, new)
    for word in WORD.finditer(old):
        place = carrier.carry(*word.span())
        if place is not None:
            assert new[slice(*place)] == word[0]


@given(before=TEXT, after=TEXT)
def test_nothing_is_lost_where_nothing_changed(before: str, after: str) -> None:
    text = f"{before} {after}".encode()
    carrier = Carrier.between(text, text)
    assert all(carrier.carry(*word.span()) == word.span() for word in WORD.finditer(text))


def test_a_line_above_moves_a_word_and_letters_at_its_edge_lose_it() -> None:
    old = b"    one\n    two\n"
    two = (12, 15)
    assert Carrier.between(old, b"    new\n" + old).carry(*two) == (20, 23)
    assert Carrier.between(old, old[:15] + b"s\n").carry(*two) is None
    assert Carrier.between(old, old[:12] + b"x" + old[12:]).carry(*two) is None
    assert Carrier.between(old, old[:15] + b"  # why\n").carry(*two) == two
    assert Carrier.between(old, old[:13] + b"h" + old[13:]).carry(*two) is None
