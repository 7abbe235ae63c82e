"""Results that a document keeps while it is edited: what an edit did not touch moves with the text.

A doubt check is kept until its function is edited; an answer about an operator, until an edit touches the
text that the model read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from counterlens.doubt.alternative import Alternative
from counterlens.doubt.disagreeing import DisagreeingFunction
from counterlens.doubt.edits import Edit, shift_edit
from counterlens.doubt.generating import text_for
from counterlens.doubt.marking import Doubt, Mark
from counterlens.probes.operator.belief import Belief
from counterlens.syntax.document import Document


@dataclass(frozen=True, slots=True)
class OffsetMap:
    """Maps ranges of a text over one edit.

    Attributes:
        first: First byte at which the two texts differ.
        last: Byte of the old text from which it equals the end of the new text.
        shift: Offset from `last` to the same byte of the new text.
    """

    new: bytes
    first: int
    last: int
    shift: int

    @classmethod
    def between(cls, old: bytes, new: bytes) -> OffsetMap:
        """The smallest single edit that turns the old text into the new one."""
        most = min(len(old), len(new))
        first = _common(old[:most], new[:most])
        tail = most - first
        same = _common(old[len(old) - tail :][::-1], new[len(new) - tail :][::-1])
        return cls(new, first, len(old) - same, len(new) - len(old))

    def moved(self, start: int, end: int) -> tuple[int, int] | None:
        """Map a range of the old text to the new one; None if the edit touched it."""
        if end <= self.first:
            span = start, end
        elif start >= self.last:
            span = start + self.shift, end + self.shift
        else:
            return None
        return None if any(_in_word(self.new, edge) for edge in span) else span


def _in_word(data: bytes, at: int) -> bool:
    """Whether a place is inside a word, for example because the edit extended the word before it."""
    return at > 0 and all(char.isalnum() or char == b"_" for char in (data[at - 1 : at], data[at : at + 1]))


def _common(text: bytes, other: bytes) -> int:
    """The length of the common prefix of two texts of equal length, in bytes."""
    different = np.flatnonzero(np.frombuffer(text, np.uint8) != np.frombuffer(other, np.uint8))
    return int(different[0]) if len(different) else len(text)


@dataclass(frozen=True, slots=True)
class DoubtMark:
    """A mark in the newest version of a document.

    Attributes:
        start: First byte of the mark in the newest version.
        end: The byte after the last.
        mark: The doubt or the failing function, in the version in which it was found.
        edit: Byte range in the newest version that the alternative, or what a model wrote, replaces,
            and the replacement; None at a function without a fix.
        rival: The same of an alternative that tests do not distinguish from this one, if any.
    """

    start: int
    end: int
    mark: Mark
    edit: Edit | None = None
    rival: Edit | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CheckedFunction:
    """The state of one function.

    Attributes:
        fingerprint: The input of the result, besides the model.
        span: Byte range of the function in the newest version of the document.
        found: Doubts as the model alone gives them.
        shown: Marks that remain after tests.
        settled_in: Version in which the tests ran; None if they did not.
        is_asked: Whether the model was asked for doubts; not if only the tests of an edited function ran.
    """

    fingerprint: str
    span: tuple[int, int]
    found: tuple[Doubt, ...]
    shown: tuple[Mark, ...]
    settled_in: Document | None = None
    is_asked: bool = True

    @property
    def marks(self) -> Iterator[DoubtMark]:
        """Return its visible marks."""
        for mark in self.shown:
            shift = self.span[0] - mark.scope.function.start
            (start, end), document = mark.place, mark.scope.document
            if isinstance(mark, Doubt):
                edit = _edit(document, mark.alternative, shift)
                rival = _edit(document, mark.rival, shift) if mark.rival else None
                yield DoubtMark(start + shift, end + shift, mark, edit, rival)
            elif isinstance(mark, DisagreeingFunction):
                yield DoubtMark(start + shift, end + shift, mark, mark.shifted(shift).edit)
            else:
                written = shift_edit(mark.written.edit, shift) if mark.written else None
                yield DoubtMark(start + shift, end + shift, mark, written)


def _edit(document: Document, alternative: Alternative, shift: int) -> Edit:
    """The byte range that an alternative replaces in the newest version, and its text."""
    return alternative.start + shift, alternative.end + shift, text_for(document, alternative)


class KnownDoubts:
    """The results for one document. Used only on the server's event loop."""

    def __init__(self) -> None:
        self._document: Document | None = None
        self._asked: object = None
        self._found: list[CheckedFunction] = []

    def on(self, document: Document, asked: object) -> list[CheckedFunction]:
        """The checked functions that are unchanged in the newest version.

        Args:
            asked: The model; results of another model are discarded.
        """
        if self._asked != asked:
            self._found = []
        elif self._document is not None and self._document is not document:
            mapping = OffsetMap.between(self._document.data, document.data)
            moved = ((mapping.moved(*function.span), function) for function in self._found)
            self._found = [replace(function, span=span) for span, function in moved if span is not None]
        self._document, self._asked = document, asked
        return self._found

    def note(self, document: Document, asked: object, function: CheckedFunction) -> None:
        """Store a result for the newest version, instead of the previous result for the function."""
        others = [other for other in self.on(document, asked) if other.span[0] != function.span[0]]
        self._found = [*others, function]

    def at(self, document: Document, asked: object, start: int) -> CheckedFunction | None:
        """What is known about the function that begins at a byte."""
        return next((function for function in self.on(document, asked) if function.span[0] == start), None)

    def keep(self, document: Document, asked: object, starts: set[int]) -> bool:
        """Discard functions that do not begin at one of these bytes; True if any of them had marks."""
        functions = self.on(document, asked)
        self._found = [function for function in functions if function.span[0] in starts]
        return any(function.shown for function in functions if function.span[0] not in starts)


@dataclass(frozen=True, slots=True, eq=False)
class KnownOperator:
    """The operators that the model finds likely instead of one operator.

    Attributes:
        start: First byte of the operator.
        end: The byte after the operator.
        read: Byte range of the definition that the model read.
        header: Number of bytes of the document's beginning that the model read before it.
    """

    start: int
    end: int
    read: tuple[int, int]
    header: int
    belief: Belief


class KnownOperators:
    """The answers for one document, by the operator's first byte. Used only on the server's event loop."""

    def __init__(self) -> None:
        self._document: Document | None = None
        self._asked: object = None
        self._found: dict[int, KnownOperator] = {}
        self.failure = ""
        """Why the last request got no answer, if it got none."""

    def on(self, document: Document, asked: object) -> dict[int, KnownOperator]:
        """The answers that are valid for a version of the document.

        Args:
            document: The newest version.
            asked: The model; answers of another model are discarded.
        """
        if self._asked != asked:
            self._found, self.failure = {}, ""
        elif self._document is not None and self._document is not document:
            self._found, self.failure = self._moved(self._document, document), ""
        self._document, self._asked = document, asked
        return self._found

    def note(self, document: Document, asked: object, answer: KnownOperator) -> None:
        """Store an answer for the newest version of the document."""
        self.on(document, asked)[answer.start] = answer
        self.failure = ""

    def _moved(self, old: Document, new: Document) -> dict[int, KnownOperator]:
        mapping = OffsetMap.between(old.data, new.data)
        operators = {}
        for answer in self._found.values():
            read = mapping.moved(*answer.read)
            if read is None or (answer.header and mapping.moved(0, answer.header) != (0, answer.header)):
                continue
            shift = read[0] - answer.read[0]
            operators[answer.start + shift] = replace(
                answer, start=answer.start + shift, end=answer.end + shift, read=read
            )
        return operators
