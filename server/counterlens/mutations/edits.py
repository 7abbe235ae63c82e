"""Edits of byte ranges of a source, rendered in one pass.

A mutation never builds source text. It names the byte ranges of the original that change, and the pieces of
the new text: literal text, and slices of the original that move. A slice is rendered with the edits inside
it, so that nested sites compose, and every byte outside all edits is kept.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from counterlens.mutations.parsed import ParsedSource


@dataclass(frozen=True, slots=True)
class Change:
    """One change: the byte ranges in the original and in the mutated source that correspond."""

    original: tuple[int, int]
    mutated: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Slice:
    """A byte range of the original that is copied with the edits inside it applied.

    An edit that replaces exactly this range is not applied: the slice is the original text.
    """

    start: int
    end: int


Piece = str | Slice


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces the bytes `start` to `end` of the original with pieces; an empty range inserts.

    An insertion does not move: a slice that begins or ends at its offset does not include it.
    """

    start: int
    end: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Rendered:
    """The result of rendering; it holds no copy of the original.

    Attributes:
        original: The original in UTF-8.
        parts: The new source: byte ranges of the original, and new text in UTF-8.
        changes: The outermost edits as original and new byte ranges, in the order of the original.
        points: The new offset of each requested offset of the original; absent if the byte there did not
            survive.
    """

    original: bytes
    parts: tuple[tuple[int, int] | bytes, ...]
    changes: tuple[Change, ...]
    points: dict[int, int]

    @property
    def data(self) -> bytes:
        """The new source in UTF-8."""
        view = memoryview(self.original)
        return b"".join(part if isinstance(part, bytes) else view[slice(*part)] for part in self.parts)


def replace(start: int, end: int, text: str) -> Edit:
    """An edit that replaces a range by literal text."""
    return Edit(start, end, (text,))


def insert(at: int, text: str) -> Edit:
    """An edit that inserts literal text before an offset."""
    return Edit(at, at, (text,))


def exchange(first: tuple[int, int], second: tuple[int, int]) -> tuple[Edit, Edit]:
    """Two edits that swap two ranges, which must not overlap."""
    return Edit(*first, (Slice(*second),)), Edit(*second, (Slice(*first),))


def render(data: bytes, edits: Iterable[Edit], points: Iterable[int] = ()) -> Rendered:
    """Apply edits to a source; they must be disjoint, or inside one another's slices.

    Args:
        data: The source, in UTF-8.
        edits: The edits, in any order.
        points: Offsets of the original to locate in the result.
    """
    return _Renderer(data, edits, points).run()


def order(edit: Edit) -> tuple[int, bool, int]:
    """The sort key of edits in order of application: by start, insertions first, wider before narrower."""
    return edit.start, edit.end > edit.start, -edit.end


class _Renderer:
    def __init__(self, data: bytes, edits: Iterable[Edit], points: Iterable[int]) -> None:
        self._data = data
        self._edits: Sequence[Edit] = sorted(edits, key=order)
        self._starts = [edit.start for edit in self._edits]
        self._wanted = tuple(points)
        self._points: dict[int, int] = {}
        self._changes: list[Change] = []
        self._parts: list[tuple[int, int] | bytes] = []
        self._length = 0

    def run(self) -> Rendered:
        self._range(0, len(self._data) + 1, 0)
        for point in self._wanted:
            if point == len(self._data):
                self._points.setdefault(point, self._length)
        changes = tuple(sorted(self._changes, key=lambda change: change.original))
        return Rendered(self._data, tuple(self._parts), changes, self._points)

    def _range(self, start: int, end: int, depth: int) -> None:
        """Render [start, end); an `end` one beyond the data includes insertions at the end of the file."""
        at = start
        index = bisect_left(self._starts, start)
        while index < len(self._edits) and self._edits[index].start < end:
            edit = self._edits[index]
            index += 1
            # An edit of the whole range of a slice applies at its place, not in the copy of the slice.
            whole = edit.end > edit.start and (edit.start, edit.end) == (start, end)
            before_slice = depth > 0 and edit.end == start
            if edit.start < at or edit.end > end or whole or before_slice:
                continue
            self._copy(at, edit.start)
            before = self._length
            if edit.start == edit.end and edit.start in self._wanted:
                self._points.setdefault(edit.start, before)
            for piece in edit.pieces:
                if isinstance(piece, Slice):
                    self._range(piece.start, piece.end, depth + 1)
                else:
                    self._parts.append(text := piece.encode())
                    self._length += len(text)
            if not depth:
                self._changes.append(Change((edit.start, edit.end), (before, self._length)))
            at = edit.end
        self._copy(at, min(end, len(self._data)))

    def _copy(self, start: int, end: int) -> None:
        for point in self._wanted:
            if start <= point < end:
                self._points.setdefault(point, self._length + point - start)
        if end > start:
            self._parts.append((start, end))
            self._length += end - start


def indenting(module: ParsedSource, start: int, end: int, base: str, extra: str) -> list[Edit]:
    """Edits that indent the lines beginning in a range by `extra`, except empty ones and those in strings."""
    prefix = base.encode()
    return [
        insert(line + len(prefix) if module.data.startswith(prefix, line) else line, extra)
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
