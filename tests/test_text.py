"""Source text and positions in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.errors import SourceError
from counterlens.text import PositionEncoding, Positions, decode, printable

TEXTS = st.text(st.sampled_from("ab é😀\t\r\n\u2028"), max_size=60)
ENCODINGS = st.sampled_from(list(PositionEncoding))


@given(TEXTS, ENCODINGS, st.data())
def test_positions_go_there_and_back(text: str, encoding: PositionEncoding, data: st.DataObject) -> None:
    positions = Positions(text)
    at = data.draw(st.integers(0, len(text)))
    if 0 < at < len(text) and text[at - 1 : at + 1] == "\r\n":
        at += 1  # no position is between the two
    offset = len(text[:at].encode())
    line, character = positions.to_character(offset, encoding)
    assert positions.from_character(line, character, encoding) == offset


@given(TEXTS, st.integers(0, 400), ENCODINGS)
def test_offsets_inside_a_character_mean_its_start(
    text: str, offset: int, encoding: PositionEncoding
) -> None:
    positions = Positions(text)
    line, character = positions.to_character(offset, encoding)
    assert 0 <= line < positions.lines
    assert character >= 0


def test_the_three_encodings_count_differently() -> None:
    positions = Positions("é😀x")
    counted = {e: positions.to_character(6, e)[1] for e in PositionEncoding}
    assert counted == {PositionEncoding.UTF8: 6, PositionEncoding.UTF16: 3, PositionEncoding.UTF32: 2}


def test_a_character_beyond_the_line_means_its_end() -> None:
    positions = Positions("ab\r\ncd")
    assert positions.from_character(0, 99, PositionEncoding.UTF16) == 2
    assert positions.from_character(9, 0, PositionEncoding.UTF16) == 6


def test_files_are_decoded_as_python_does_and_come_back() -> None:
    for data in (
        b"x = 1\r\n",
        b"\xef\xbb\xbfx = 1\n",
        "# -*- coding: latin-1 -*-\ns = 'é'\n".encode("latin-1"),
        "s = 'é😀'\n".encode(),
    ):
        decoded = decode(data)
        assert not decoded.text.startswith("\ufeff")
        assert decoded.encode(decoded.text) == data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"x = 1\ny = '\xff'\n", "line 2"),
        (b"x = 1\0", "null byte"),
        (b"\x80\x02}q\x00.", "not valid UTF-8"),
        (b"# coding: rot13\nk = 1\n", "is not text"),
        (b"# coding: hex\nabc\n", "is not text"),
    ],
)
def test_what_is_no_text_is_refused_with_a_reason(data: bytes, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        decode(data)


@given(st.text(st.characters()))
def test_what_is_printable_goes_anywhere(text: str) -> None:
    shown = printable(text + "\ud800\x1b]0;title\x07\u202e")
    assert not set(shown) & {"\x1b", "\x07", "\u202e", "\r", "\x9b"}
    assert shown.encode().decode() == shown
    assert printable(shown) == shown


def test_printable_keeps_what_can_be_looked_at() -> None:
    assert printable("a\tä\n→ 🐍\x1b[2J\ud800") == "a\tä\n→ 🐍\\x1b[2J\\ud800"
