"""The interface of a parsed source for the engine, in any language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from counterlens.text import Positions

MODULE = "<module>"
"""The name of the function of a site that is outside any function."""


@dataclass(frozen=True, slots=True, eq=False)
class FunctionSpan:
    """A function and its position.

    Attributes:
        qualname: Dotted path from the file, such as `Class.method` or `outer.inner`.
        start: Offset of the first byte of its header.
        end: Offset after its last byte.
    """

    qualname: str
    start: int
    end: int


class ParsedSource(Protocol):
    """A parsed file. Offsets are UTF-8 bytes."""

    language: str
    source: str
    data: bytes
    positions: Positions

    @property
    def functions(self) -> Sequence[FunctionSpan]:
        """Its functions, outer ones before the ones nested in them."""

    @property
    def newline(self) -> str:
        """The line ending."""

    def function_at(self, offset: int) -> FunctionSpan | None:
        """The innermost function around an offset."""

    def lines_of(self, function: FunctionSpan) -> list[int]:
        """Offsets of the lines on which a statement of a function begins."""

    def line(self, offset: int) -> int:
        """The 1-based line number of an offset."""

    def line_start(self, offset: int) -> int:
        """The offset of the first byte of the line that contains an offset."""

    def next_line(self, offset: int) -> int:
        """The offset of the first byte of the line after the one that contains an offset."""

    def in_string(self, offset: int) -> bool:
        """Whether an offset is inside a string that spans several lines."""
