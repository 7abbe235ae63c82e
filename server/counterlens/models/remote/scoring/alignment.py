"""Match each token of a server with the bytes of a text.

Servers identify tokens by their texts, which are not always the bytes:

1. A token that is a part of a character appears as U+FFFD, as nothing, or, with SentencePiece, as `<0xE2>`.
   Parts that cannot be distinguished share the character's bytes in order.
2. SentencePiece shows blanks as U+2581, and adds one before the text.
3. Special tokens precede the text, and generated ones follow it.

The pieces are matched from left to right with backtracking. Each state is tried once, so the time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

Piece = str | bytes | None

_RUN: Final = re.compile("(\ufffd+)")
_BYTE: Final = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_PART: Final = 3  # maximum number of bytes for one U+FFFD: of a part of a character, and of U+FFFD itself
_PARTS: Final = 2 * _PART  # minimum limit for a run of U+FFFD, if a token may have parts of two characters
_LEAD: Final = 2  # maximum number of special tokens before a text
_UNKNOWN: Final = 64  # maximum number of bytes of an unnamed first token


class Misaligned(ValueError):  # noqa: N818 - a finding, which the caller words
    """The tokens do not join to the text."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Return the ends of the tokens of a text.

    Attributes:
        lead: Number of tokens before the text's own.
        ends: The byte after each of the text's own tokens: strictly increasing, up to the text's length.
    """

    lead: int
    ends: tuple[int, ...]


def align(pieces: Sequence[Piece], data: bytes, *, surplus: int = 0) -> Alignment:
    """Match pieces with the bytes of a text.

    Args:
        pieces: Texts or bytes of the tokens; the first may be None, which matches any.
        data: The UTF-8 text.
        surplus: Maximum number of tokens after the text's own.

    Raises:
        Misaligned: they do not match.
    """
    reached = 0
    for lead in range(min(_LEAD, len(pieces)) + 1):
        own = pieces[lead:]
        if not data:
            if len(own) <= surplus:
                return Alignment(lead, ())
            continue
        if not own:
            break
        if own[0] is None:
            for length in range(1, min(_UNKNOWN, len(data)) + 1):
                ends, _ = _match([data[:length], *own[1:]], data, surplus)
                if ends is not None:
                    return Alignment(lead, tuple(ends))
            continue
        ends, far = _match(own, data, surplus)
        if ends is not None:
            return Alignment(lead, tuple(ends))
        reached = max(reached, far)
    raise Misaligned(f"they differ after byte {reached} of {len(data)}")


def _match(pieces: Sequence[Piece], data: bytes, surplus: int) -> tuple[list[int] | None, int]:
    """The ends of the tokens, or None; and the furthest byte that matched.

    A token with parts of two characters is rare, so it is assumed only if nothing else matches.
    """
    ends, far = _search(pieces, data, surplus, several=False)
    if ends is None:
        ends, further = _search(pieces, data, surplus, several=True)
        far = max(far, further)
    return ends, far


def _search(
    pieces: Sequence[Piece], data: bytes, surplus: int, *, several: bool
) -> tuple[list[int] | None, int]:
    far = 0
    tried: set[tuple[int, int, int]] = set()
    places = [(0, 0)]  # (byte, tokens without bytes just before it) at the start of each token
    todo = [_steps(pieces, 0, data, (0, 0), several=several)]
    while todo:
        step = next(todo[-1], None)
        if step is None:
            todo.pop()
            places.pop()
            continue
        at, waiting = step
        count = len(todo)
        far = max(far, at)
        if at == len(data) and not waiting and len(pieces) - count <= surplus:
            return _spread([*places, step]), far
        if count >= len(pieces) or (count, at, waiting) in tried:
            continue
        tried.add((count, at, waiting))
        places.append(step)
        todo.append(_steps(pieces, count, data, step, several=several))
    return None, far


def _steps(
    pieces: Sequence[Piece], index: int, data: bytes, place: tuple[int, int], *, several: bool
) -> Iterator[tuple[int, int]]:
    """Possible ends of a token, likelier first: a byte, and the number of tokens waiting for bytes there."""
    piece, (at, waiting) = pieces[index], place
    if at < len(data):
        for form in _forms(piece, first=index == 0):
            if data.startswith(form, at) and _room(data, at) >= waiting:
                yield at + len(form), 0
    if isinstance(piece, str) and (not piece or "\ufffd" in piece):
        if not waiting:
            for high in _fuzzy(_RUN.split(piece or "\ufffd"), data, at, several=several):
                yield high, 0
        if not piece:
            yield at, waiting + 1  # a later token has the whole character


def _fuzzy(shown: list[str], data: bytes, at: int, *, several: bool) -> Iterator[int]:
    """Possible ends of a token, given its texts and the runs of U+FFFD between them, alternately.

    Without `several`, a single U+FFFD is a part of one character.
    """
    text, *others = shown
    encoded = text.encode("utf-8", "surrogatepass")
    if not data.startswith(encoded, at):
        return
    at += len(encoded)
    if not others:
        yield at
        return
    run, *after = others
    most = max(_PART * len(run), _PARTS if several else 0)
    for high in range(at + 1, min(at + most, len(data)) + 1):
        last = data[high - 1]
        if last < 0x80 or (last >= 0xC0 and high > at + 1 and len(run) == 1 and not several):
            break
        yield from _fuzzy(after, data, high, several=several)


def _forms(piece: Piece, *, first: bool) -> list[bytes]:
    """Possible byte strings of a piece."""
    if piece is None:
        return []
    if isinstance(piece, bytes):
        forms = [piece]
    else:
        forms = [piece.encode("utf-8", "surrogatepass")]
        if "\u2581" in piece:
            forms.append(piece.replace("\u2581", " ").encode("utf-8", "surrogatepass"))
        if match := _BYTE.fullmatch(piece):
            forms.append(bytes.fromhex(match[1]))
    if first:
        forms += [form[1:] for form in forms if form.startswith(b" ")]
    return [form for form in forms if form]


def _room(data: bytes, at: int) -> int:
    """Number of tokens that may share a character with the token that shows it."""
    lead = data[at]
    return 0 if lead < 0xC0 else 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3


def _spread(places: list[tuple[int, int]]) -> list[int]:
    """The ends, with one byte for each token that waited for bytes."""
    ends = [at for at, _ in places[1:]]
    for index, (at, waiting) in enumerate(places[1:]):
        if waiting:
            ends[index] = at + waiting
    return ends
