"""The pieces of a function that are scored together, and the context of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from counterlens.confidence.units import units
from counterlens.doubt.alternative import Alternative
from counterlens.doubt.scope import DoubtScope

HEADER_BYTES = 1024
"""Maximum length of the document's header in the context, in bytes."""
BEFORE_BYTES = 3072
"""Maximum length of the text between header and passage in the context, including the function's header."""
PASSAGE_BYTES = 3072
"""Maximum length of a passage; a longer body is split."""
REST_BYTES = 80
"""Minimum length of the text compared after a place, up to the end of a line."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines of a function.

    Attributes:
        start: The line break before its first line; 0 at the start of a document.
        end: The byte after the passage.
        context: The context before it.
    """

    scope: DoubtScope
    start: int
    end: int
    context: str

    def until(self, alternative: Alternative) -> int:
        """The end of the text compared for an alternative: before a line break, or with the passage."""
        data = self.scope.document.data
        follows = data.find(b"\n", alternative.end + REST_BYTES, self.end)
        return self.end if follows < 0 else follows - (data[follows - 1 : follows] == b"\r")

    def as_it_stands(self, until: int) -> str:
        """The text up to a byte."""
        return self.scope.text(self.start, until)

    def changed(self, alternative: Alternative, until: int) -> str:
        """The same with an alternative."""
        before = self.scope.text(self.start, alternative.start)
        return before + alternative.text + self.scope.text(alternative.end, until)


def passages(
    scope: DoubtScope, alternatives: Sequence[Alternative]
) -> Iterator[tuple[Passage, list[Alternative]]]:
    """The pieces of a function that contain alternatives, with these.

    Each is at least one line long; an alternative that extends into the next piece is dropped.
    """
    data, end = scope.document.data, scope.function.end
    first = min(
        [scope.start, *(alternative.start for alternative in alternatives)]
    )  # a default is before the body
    start = max(data.rfind(b"\n", 0, first), 0)
    while start < end:
        stop = end if end - start <= PASSAGE_BYTES else data.find(b"\n", start + PASSAGE_BYTES // 2, end)
        stop = end if stop < 0 else stop
        inside = [
            alternative
            for alternative in alternatives
            if start <= alternative.start and alternative.end <= stop
        ]
        if inside:
            begin = start - (data[start - 1 : start] == b"\r")
            yield Passage(scope, begin, stop, _context(scope, begin)), inside
        start = stop


def _context(scope: DoubtScope, start: int) -> str:
    """The header of the document, and the text before the passage."""
    document = scope.document
    unit = next(
        candidate
        for candidate in units(document, HEADER_BYTES)
        if candidate.start <= scope.function.header < candidate.end
    )
    begin = max(unit.start, unit.context)
    if start - begin > BEFORE_BYTES:
        line = document.data.find(b"\n", start - BEFORE_BYTES, start)
        begin = line if line >= 0 else start
    return scope.text(0, unit.context) + scope.text(begin, start) or "\n"
