"""The statements of a function, with their lines and texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement.

    Attributes:
        id: Its number in the function, from 0.
        line: Its first line in the file, from 1.
        end_line: Its last line; for a compound statement, the last line of its header.
        text: Its source, for a compound statement its header only; further lines keep their indentation.
    """

    id: int
    line: int
    end_line: int
    text: str


class StatementTable(Protocol):
    """The numbering of one function's statements, in any language.

    Attributes:
        header: The number of the function's header; -1 if it has none.
    """

    header: int

    @property
    def nodes(self) -> Sequence[Any]:
        """The syntax node of each statement, of the parser that its language uses."""

    @property
    def last_line(self) -> int:
        """The last line of the function, which must have a header."""

    def line(self, number: int) -> int:
        """The first line of a statement, from 1."""

    def listed(self, text: str) -> tuple[Statement, ...]:
        """The statements with their lines and texts.

        Args:
            text: The source that contains them.
        """
