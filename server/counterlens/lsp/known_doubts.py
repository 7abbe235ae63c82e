"""The functions of a document that were checked for doubts: a result stays until its function is edited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from counterlens.doubt.alternative import Alternative
from counterlens.doubt.generating import text_for
from counterlens.doubt.marking import Doubt
from counterlens.lsp.edit_mapping import OffsetMap
from counterlens.syntax.document import Document


@dataclass(frozen=True, slots=True)
class DoubtMark:
    """A mark in the newest version of a document.

    Attributes:
        start: The first byte that is marked there.
        end: The byte after the last.
        edit: The byte range there that the alternative replaces.
        text: What would stand in it.
        rival: The byte range and the text of the alternative that tests do not tell from this one, if any.
        doubt: The mark, in the version in which it was found.
    """

    start: int
    end: int
    edit: tuple[int, int]
    text: str
    rival: tuple[int, int, str] | None
    doubt: Doubt


@dataclass(frozen=True, slots=True, eq=False)
class CheckedFunction:
    """The state of one function.

    Attributes:
        fingerprint: What the result depends on besides the model.
        span: Its bytes in the newest version of the document.
        found: Its marks as the model alone gives them.
        shown: The same as tests leave them.
        settled_in: The version in which the tests were run; None where they were not.
    """

    fingerprint: str
    span: tuple[int, int]
    found: tuple[Doubt, ...]
    shown: tuple[Doubt, ...]
    settled_in: Document | None = None

    @property
    def marks(self) -> Iterator[DoubtMark]:
        """Return its visible marks."""
        for doubt in self.shown:
            shift = self.span[0] - doubt.scope.function.start
            (start, end), document = doubt.alternative.place, doubt.scope.document
            first, last, text = _edit(document, doubt.alternative, shift)
            rival = _edit(document, doubt.rival, shift) if doubt.rival else None
            yield DoubtMark(start + shift, end + shift, (first, last), text, rival, doubt)


def _edit(document: Document, alternative: Alternative, shift: int) -> tuple[int, int, str]:
    """The byte range that an alternative replaces in the newest version, and its text."""
    return alternative.start + shift, alternative.end + shift, text_for(document, alternative)


class KnownDoubts:
    """The results on one document. Used only on the server's event loop."""

    def __init__(self) -> None:
        self._document: Document | None = None
        self._asked: object = None
        self._found: list[CheckedFunction] = []

    def on(self, document: Document, asked: object) -> list[CheckedFunction]:
        """The functions that the newest version still has as they were when they were checked.

        Args:
            document: The newest version.
            asked: The model; what another model said is forgotten.
        """
        if self._asked != asked:
            self._found = []
        elif self._document is not None and self._document is not document:
            mapping = OffsetMap.between(self._document.data, document.data)
            moved = ((mapping.moved(*one.span), one) for one in self._found)
            self._found = [replace(one, span=span) for span, one in moved if span is not None]
        self._document, self._asked = document, asked
        return self._found

    def note(self, document: Document, asked: object, one: CheckedFunction) -> None:
        """Keep a result on the newest version, in place of what was known of the function."""
        known = [other for other in self.on(document, asked) if other.span[0] != one.span[0]]
        self._found = [*known, one]

    def keep(self, document: Document, asked: object, starts: set[int]) -> bool:
        """Forget the functions that begin nowhere among these bytes; whether there were marks on any."""
        known = self.on(document, asked)
        self._found = [one for one in known if one.span[0] in starts]
        return any(one.shown for one in known if one.span[0] not in starts)
