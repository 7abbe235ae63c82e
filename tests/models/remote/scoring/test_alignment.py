"""Tokens as servers show them, matched with the bytes of a text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.models.remote.scoring.alignment import Alignment, Misaligned, Piece, align

TEXTS = st.text(st.sampled_from("ab x\n\t(é→😀▁ñ\u0301漢\ufffd"), min_size=1, max_size=30)


def cut(text: str, data: st.DataObject) -> tuple[bytes, list[bytes]]:
    """A text as bytes, and cut anywhere into tokens."""
    whole = text.encode()
    cuts = data.draw(st.sets(st.integers(1, max(1, len(whole) - 1)), max_size=20))
    places = sorted({0, len(whole), *(at for at in cuts if at < len(whole))})
    return whole, [whole[a:b] for a, b in pairwise(places)]


def ends(tokens: list[bytes]) -> tuple[int, ...]:
    return tuple(len(b"".join(tokens[: at + 1])) for at in range(len(tokens)))


def split_characters(text: str, data: st.DataObject) -> list[bytes]:
    """The text cut into words of whole characters and parts of single ones."""
    tokens: list[bytes] = []
    for char in text:
        raw = char.encode()
        if len(raw) > 1 and data.draw(st.booleans()):
            at = data.draw(st.integers(1, len(raw) - 1))
            tokens += [raw[:at], raw[at:]]
        else:
            tokens.append(raw)
    return tokens


def check_tiles(found: Alignment, whole: bytes, count: int) -> None:
    assert len(found.ends) == count
    assert all(low < high for low, high in pairwise((0, *found.ends)))
    assert found.ends[-1] == len(whole)


@given(TEXTS, st.data())
def test_bytes_are_matched_exactly(text: str, data: st.DataObject) -> None:
    whole, tokens = cut(text, data)
    assert align(tokens, whole) == Alignment(0, ends(tokens))
    with_others = align([b"<s>", *tokens, b"more"], whole, surplus=1)
    assert with_others == Alignment(1, ends(tokens))


@given(TEXTS, st.data())
def test_parts_of_characters_shown_as_replacements(text: str, data: st.DataObject) -> None:
    whole, tokens = cut(text, data)
    pieces: list[Piece] = [token.decode("utf-8", "replace") for token in tokens]
    found = align(pieces, whole)
    check_tiles(found, whole, len(tokens))
    if "\ufffd" not in "".join(map(str, pieces)):
        assert found.ends == ends(tokens)


def test_a_token_that_shows_nothing_is_a_part_of_one_character_if_that_matches() -> None:
    split = [part for char in "→😀😀→" for part in (char.encode()[:1], char.encode()[1:])]
    tokens = [*split, "😀".encode(), b"\xc3", b"\xa9"]
    found = align([token.decode("utf-8", "ignore") for token in tokens], b"".join(tokens))
    assert b"".join(tokens)[slice(*found.ends[7:9])] == "😀".encode()
    check_tiles(found, b"".join(tokens), len(tokens))


def test_a_run_of_replacements_may_be_a_part_of_a_character_and_replacements_of_the_text() -> None:
    whole = "éa\ufffd\ufffd\ufffd".encode()
    assert align([part.decode("utf-8", "replace") for part in (whole[:1], whole[1:])], whole).ends == (1, 12)


@given(TEXTS, st.data())
def test_parts_of_characters_shown_as_nothing(text: str, data: st.DataObject) -> None:
    tokens = split_characters(text.replace("\ufffd", "?"), data)
    whole = b"".join(tokens)
    pieces = [token.decode("utf-8", "ignore") for token in tokens]
    found = align(pieces, whole)
    check_tiles(found, whole, len(tokens))
    for (low, high), piece in zip(pairwise((0, *found.ends)), pieces, strict=True):
        assert not piece or whole[low:high] == piece.encode()


@given(TEXTS, st.data())
def test_characters_shown_by_the_last_of_their_parts(text: str, data: st.DataObject) -> None:
    tokens = split_characters(text, data)
    pieces, pending = [], b""
    for token in tokens:
        pending += token
        try:
            pieces.append(pending.decode())
            pending = b""
        except UnicodeDecodeError:
            pieces.append("")
    check_tiles(align(pieces, text.encode()), text.encode(), len(tokens))


@given(TEXTS, st.data())
def test_sentencepiece_shows_bytes_and_blanks_in_its_own_way(text: str, data: st.DataObject) -> None:
    text = text.replace("▁", "_")
    tokens = split_characters(text, data)
    pieces = []
    for token in tokens:
        try:
            pieces.append(token.decode().replace(" ", "▁"))
        except UnicodeDecodeError:
            pieces += [f"<0x{byte:02X}>" for byte in token]
    pieces = ["▁" + pieces[0], *pieces[1:]] if pieces[0][:1] != "<" else ["▁", *pieces]
    found = align(["<s>", *pieces], text.encode())
    check_tiles(found, text.encode(), len(pieces) + 1 - found.lead)


@pytest.mark.parametrize(
    ("pieces", "text", "lead", "expected"),
    [
        (["def", " f", "("], "def f(", 0, (3, 5, 6)),
        (["<s>", "def", " f", "("], "def f(", 1, (3, 5, 6)),
        ([None, " f", "("], "def f(", 0, (3, 5, 6)),
        ([None, "def", " f", "("], "def f(", 1, (3, 5, 6)),
        ([" def", " f", "(", "x"], "def f(", 0, (3, 5, 6)),
        (["x", "\ufffd", "\ufffd", "\n"], "x😀\n", 0, (1, 2, 5, 6)),
        (["x", "", "", "😀", "\n"], "x😀\n", 0, (1, 2, 3, 5, 6)),
        (["x", " \ufffd", "\ufffd"], "x 😀", 0, (1, 3, 6)),
        (["a\ufffdb"], "a\ufffdb", 0, (5,)),
        ([], "", 0, ()),
    ],
)
def test_known_forms(pieces: list[Piece], text: str, lead: int, expected: tuple[int, ...]) -> None:
    assert align(pieces, text.encode(), surplus=1) == Alignment(lead, expected)


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["def", "f"], "def f"),
        (["def", " f", "x"], "def f"),
        (["def"], "def f"),
        (["d", "", "f"], "def"),
        ([], "def"),
        ([" ", "x"], "xx"),
    ],
)
def test_tokens_that_do_not_join_are_refused(pieces: list[Piece], text: str) -> None:
    with pytest.raises(Misaligned):
        align(pieces, text.encode())


def test_long_texts_take_linear_time() -> None:
    text = "é漢😀x" * 1000
    pieces = ["", "", "\ufffd", "\ufffd", "\ufffd", "\ufffd", "x"] * 1000
    assert len(align(pieces, text.encode()).ends) == len(pieces)
    with pytest.raises(Misaligned):
        align([*pieces[:-1], "y"], text.encode())
