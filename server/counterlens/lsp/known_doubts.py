"""Results of doubt checks of a document's functions; a result is kept until its function is edited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from counterlens.doubt.alternative import Alternative
from counterlens.doubt.generating import text_for
from counterlens.doubt.marking import Doubt, Mark
from counterlens.lsp.edit_mapping import OffsetMap
from counterlens.syntax.document import Document


@dataclass(frozen=True, slots=True)
class DoubtMark:
    """A mark in the newest version of a document.

    Attributes:
        start: First byte of the mark in the newest version.
        end: The byte after the last.
        mark: The doubt or the failing function, in the version in which it was found.
        edit: Byte range in the newest version that the alternative replaces, and the replacement; None at a
            failing function without a fix.
        rival: The same of an alternative that tests do not distinguish from this one, if any.
    """

    start: int
    end: int
    mark: Mark
    edit: tuple[int, int, str] | None = None
    rival: tuple[int, int, str] | None = None


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
            else:
                yield DoubtMark(start + shift, end + shift, mark)


def _edit(document: Document, alternative: Alternative, shift: int) -> tuple[int, int, str]:
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
        known = [other for other in self.on(document, asked) if other.span[0] != function.span[0]]
        self._found = [*known, function]

    def at(self, document: Document, asked: object, start: int) -> CheckedFunction | None:
        """What is known about the function that begins at a byte."""
        return next((known for known in self.on(document, asked) if known.span[0] == start), None)

    def keep(self, document: Document, asked: object, starts: set[int]) -> bool:
        """Discard functions that do not begin at one of these bytes; True if any of them had marks."""
        known = self.on(document, asked)
        self._found = [function for function in known if function.span[0] in starts]
        return any(function.shown for function in known if function.span[0] not in starts)
