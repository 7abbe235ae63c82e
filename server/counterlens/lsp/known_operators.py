"""Answers about a document's operators; an answer is kept until an edit touches the text the model read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from counterlens.lsp.edit_mapping import OffsetMap
from counterlens.probes.operator.belief import Belief
from counterlens.syntax.document import Document


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
