"""The alternatives of a place: `Alternative`, and `DoubtKind`, which finds them in a function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import tree_sitter

from counterlens.doubt.scope import DoubtScope


@dataclass(frozen=True, slots=True)
class Alternative:
    r"""Another text for a byte range of a document.

    Attributes:
        kind: Id of its kind.
        start: First byte to replace.
        end: The byte after the last; equal to `start` for an insertion.
        text: The replacement, with `\n` as line ends.
        marked: Byte range of the mark, if it differs from the replaced range.
        question: The rest of the message after the place; by default "did you mean `text`?".
        refuted: Whether the rest of the file supports the existing code. Only failing tests can then put it
            in doubt.
    """

    kind: str
    start: int
    end: int
    text: str
    marked: tuple[int, int] | None = None
    question: str = ""
    refuted: bool = False

    @property
    def place(self) -> tuple[int, int]:
        """The byte range of the mark."""
        return self.marked or (self.start, self.end)

    def moved(self, shift: int) -> Alternative:
        """The same alternative, `shift` bytes further on."""
        marked = self.marked and (self.marked[0] + shift, self.marked[1] + shift)
        return replace(self, start=self.start + shift, end=self.end + shift, marked=marked)


@dataclass(frozen=True, slots=True)
class DoubtExample:
    """A program, and each alternative of one kind as `existing -> replacement`; blanks are collapsed."""

    program: str
    offers: tuple[str, ...]


class DoubtKind(ABC):
    """One kind of alternatives. The docstring of a subclass is the user's documentation of it."""

    id: ClassVar[str]
    EXAMPLES: ClassVar[tuple[DoubtExample, ...]]

    @abstractmethod
    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """All alternatives in a function; the caller checks whether they parse."""

    def instead(self, node: tree_sitter.Node, text: str, *, refuted: bool = False) -> Alternative:
        """An alternative that replaces a node."""
        return Alternative(self.id, node.start_byte, node.end_byte, text, refuted=refuted)
