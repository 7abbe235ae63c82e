"""Edits of lines, indentation and blanks that keep the meaning of the surrounding text."""

from __future__ import annotations

from counterlens.mutations.edits import Edit, Piece, Slice, insert, replace
from counterlens.mutations.parsed import ParsedSource


def indenting(module: ParsedSource, start: int, end: int, base: str, extra: str) -> list[Edit]:
    """Edits that indent the lines beginning in a range by `extra`, except empty ones and those in strings."""
    known = base.encode()
    return [
        insert(line + len(known) if module.data.startswith(known, line) else line, extra)
        for line in _lines(module, start, end)
    ]


def dedenting(module: ParsedSource, start: int, end: int, base: str, extra: str) -> list[Edit]:
    """Edits that remove `extra` from the lines that begin in a range and are indented by `base + extra`."""
    prefix = (base + extra).encode()
    return [
        replace(line + len(base.encode()), line + len(prefix), "")
        for line in _lines(module, start, end)
        if module.data.startswith(prefix, line)
    ]


def moved_to(module: ParsedSource, target: tuple[int, int], source: tuple[int, int]) -> Edit:
    """An edit that replaces a range by another range's text, with blanks where words would join."""
    incoming = module.data[source[0] : source[1]]
    pieces: list[Piece] = [Slice(*source)]
    if is_word(module.data[target[0] - 1 : target[0]]) and is_word(incoming[:1]):
        pieces.insert(0, " ")
    if is_word(incoming[-1:]) and is_word(module.data[target[1] : target[1] + 1]):
        pieces.append(" ")
    return Edit(*target, tuple(pieces))


def put(module: ParsedSource, target: tuple[int, int], text: str) -> Edit:
    """An edit that replaces a range by text, with blanks where words would join."""
    before = " " if is_word(module.data[target[0] - 1 : target[0]]) and is_word(text[:1].encode()) else ""
    after = " " if is_word(text[-1:].encode()) and is_word(module.data[target[1] : target[1] + 1]) else ""
    return replace(*target, before + text + after)


def is_word(byte: bytes) -> bool:
    """Whether a byte can be part of a name, a keyword or a number."""
    return byte.isalnum() or byte == b"_" or byte >= b"\x80"


def _lines(module: ParsedSource, start: int, end: int) -> list[int]:
    """Starts of the lines that begin in a range, except empty ones and those inside a string."""
    starts = []
    number = module.positions.line_of(max(start - 1, 0)) + (start > 0)
    while number < module.positions.lines:
        line = module.positions.line_start(number)
        if line >= end:
            break
        after = module.positions.line_start(number + 1) if number + 1 < module.positions.lines else end
        if module.data[line:after].strip() and not module.in_string(line):
            starts.append(line)
        number += 1
    return starts
