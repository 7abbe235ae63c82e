"""Byte offsets of a document as LSP positions and ranges, in the encoding agreed with the client."""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types

from counterlens.syntax.document import Document
from counterlens.text import PositionEncoding


@dataclass(frozen=True, slots=True)
class Places:
    """Converts between offsets and positions of one document."""

    document: Document
    encoding: PositionEncoding

    def position(self, offset: int) -> types.Position:
        """Convert a byte offset to a position."""
        line, character = self.document.positions.to_character(offset, self.encoding)
        return types.Position(line, character)

    def range(self, start: int, end: int) -> types.Range:
        """Convert a byte range to a range."""
        return types.Range(self.position(start), self.position(end))

    def offset(self, position: types.Position) -> int:
        """Convert a position to a byte offset."""
        return self.document.positions.from_character(position.line, position.character, self.encoding)
