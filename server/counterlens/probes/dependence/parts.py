"""The statements of an examined function, in any language: their positions, and the names in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from counterlens.dependence import Statement

Span = tuple[int, int]
"""Bytes of the subject's text: start, and the end after the last one."""
StatementPair = tuple[int, int]
"""Source and target ids: the target depends on the source."""

StatementEdits = Iterator[tuple[Span, str]]
"""Spans of the subject's text, and the replacement of each."""


class NameRole(StrEnum):
    """The role of a variable at one place in a statement."""

    READ = "read"
    CHANGED = "changed"
    BOUND = "bound"


@dataclass(frozen=True, slots=True)
class NameOccurrence:
    """A variable in the text.

    Attributes:
        role: Whether it is bound there, read, or read to change its object.
    """

    name: str
    span: Span
    role: NameRole


@dataclass(frozen=True)
class Part:
    """One statement of the subject.

    Attributes:
        statement: The statement of the analysis, with its id.
        node: Its syntax node, of the parser that its language uses.
        span: Its bytes; of a compound statement only the header.
        occurrences: The variables in it, in textual order.
        branch: Whether it is the header of a branch or a loop.
        described: Whether it is a docstring or the like, without effect.
        updates: Whether it reads everything that it binds, as `x += 1` does.
    """

    statement: Statement
    node: Any
    span: Span
    occurrences: tuple[NameOccurrence, ...]
    branch: bool = False
    described: bool = False
    updates: bool = False

    @cached_property
    def binds(self) -> frozenset[str]:
        """The variables that it binds, or whose objects it changes."""
        return frozenset(
            occurrence.name for occurrence in self.occurrences if occurrence.role is not NameRole.READ
        )

    @cached_property
    def reads(self) -> tuple[NameOccurrence, ...]:
        """Its reads of variables."""
        return tuple(
            occurrence
            for occurrence in self.occurrences
            if self.updates or occurrence.role is not NameRole.BOUND
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """All variables that occur in it."""
        return frozenset(occurrence.name for occurrence in self.occurrences)
