"""The interface of a parsed source for the engine, in any language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from counterlens.text import Positions

MODULE = "<module>"
"""The function that a site outside of any function lies in."""


@dataclass(frozen=True, slots=True, eq=False)
class FunctionSpan:
    """A function and its position.

    Attributes:
        qualname: Dotted path from the file, as `Class.method` or `outer.inner`.
        start: Offset of the first byte of its header.
        end: Offset behind its last byte.
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
        """Its functions, outer ones before those inside them."""

    @property
    def newline(self) -> str:
        """The line ending."""

    def function_at(self, offset: int) -> FunctionSpan | None:
        """The innermost function around an offset."""

    def lines_of(self, function: FunctionSpan) -> list[int]:
        """The offsets of the statements of a function that begin a line."""

    def line(self, offset: int) -> int:
        """The 1-based line that an offset is in."""

    def line_start(self, offset: int) -> int:
        """The first byte of the line that an offset is in."""

    def next_line(self, offset: int) -> int:
        """The first byte of the line after the one that an offset is in."""

    def in_string(self, offset: int) -> bool:
        """Whether an offset lies inside of a string that spans lines."""
