"""Small edits over byte ranges of a source, and rendering them all in one pass.

A mutation never builds source text. It names the byte ranges of the original that change, and the parts of
the new text: literal text, and moved slices of the original. A slice is rendered with the edits that lie
inside it, so sites inside one another compose, and every byte that no edit names survives.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from counterlens.mutations.base import Change


@dataclass(frozen=True, slots=True)
class Slice:
    """A byte range of the original that is copied, with the edits inside it applied.

    An edit that replaces exactly this range is not: the slice is what stood there.
    """

    start: int
    end: int


Piece = str | Slice


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces the bytes `start` to `end` of the original by pieces; an empty range inserts.

    An insertion stays where it is: a slice that begins or ends at its offset does not carry it along.
    """

    start: int
    end: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Rendered:
    """The result of the edits.

    Attributes:
        data: The new source in UTF-8.
        changes: The outermost edits, original and new byte ranges, in the order of the original.
        points: For each asked offset of the original, where that byte stands now; an offset whose byte
            did not survive is absent.
    """

    data: bytes
    changes: tuple[Change, ...]
    points: dict[int, int]


def replace(start: int, end: int, text: str) -> Edit:
    """An edit that puts literal text for a range."""
    return Edit(start, end, (text,))


def insert(at: int, text: str) -> Edit:
    """An edit that puts literal text before an offset."""
    return Edit(at, at, (text,))


def exchange(first: tuple[int, int], second: tuple[int, int]) -> tuple[Edit, Edit]:
    """Two edits that exchange two ranges, which must not overlap."""
    return Edit(*first, (Slice(*second),)), Edit(*second, (Slice(*first),))


def render(data: bytes, edits: Iterable[Edit], points: Iterable[int] = ()) -> Rendered:
    """Apply edits, which must be disjoint or inside one another's slices, to a source."""
    return _Renderer(data, edits, points).run()


def order(edit: Edit) -> tuple[int, bool, int]:
    """Sorts edits as they are applied: by start; insertions first; the wider before the narrower."""
    return edit.start, edit.end > edit.start, -edit.end


class _Renderer:
    def __init__(self, data: bytes, edits: Iterable[Edit], points: Iterable[int]) -> None:
        self._data = data
        self._edits: Sequence[Edit] = sorted(edits, key=order)
        self._starts = [edit.start for edit in self._edits]
        self._wanted = tuple(points)
        self._points: dict[int, int] = {}
        self._changes: list[Change] = []
        self._out: list[bytes] = []
        self._length = 0

    def run(self) -> Rendered:
        self._range(0, len(self._data) + 1, 0)
        for point in self._wanted:
            if point == len(self._data):
                self._points.setdefault(point, self._length)
        changes = tuple(sorted(self._changes, key=lambda change: change.original))
        return Rendered(b"".join(self._out), changes, self._points)

    def _range(self, start: int, end: int, depth: int) -> None:
        """Render [start, end); `end` one beyond the data takes in what is inserted at its end."""
        at = start
        index = bisect_left(self._starts, start)
        while index < len(self._edits) and self._edits[index].start < end:
            edit = self._edits[index]
            index += 1
            # What replaces the whole of a slice replaces it where it was; the slice is what was there.
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
                    self._put(piece.encode())
            if not depth:
                self._changes.append(Change((edit.start, edit.end), (before, self._length)))
            at = edit.end
        self._copy(at, min(end, len(self._data)))

    def _copy(self, start: int, end: int) -> None:
        for point in self._wanted:
            if start <= point < end:
                self._points.setdefault(point, self._length + point - start)
        if end > start:
            self._put(self._data[start:end])

    def _put(self, data: bytes) -> None:
        self._out.append(data)
        self._length += len(data)
