"""The statements of an examined function, in any language: where they stand, and the names in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from tree_sitter import Node

from counterlens.dependence import Statement

Span = tuple[int, int]
"""Bytes of the subject's text: start, and end behind the last one."""
StatementPair = tuple[int, int]
"""The ids of the statement that is depended on, and of the one that depends on it."""

StatementEdits = Iterator[tuple[Span, str]]
"""Spans of the subject's text, and what replaces each."""


class NameRole(StrEnum):
    """The use of a variable by a statement in one place."""

    READ = "read"
    CHANGED = "changed"
    BOUND = "bound"


@dataclass(frozen=True, slots=True)
class NameOccurrence:
    """A variable in the text.

    Attributes:
        name: Which.
        span: Where.
        role: Whether it is bound there, or read, or read so that its object is changed.
    """

    name: str
    span: Span
    role: NameRole


@dataclass(frozen=True)
class Part:
    """One statement of the subject.

    Attributes:
        statement: As the analysis numbers it.
        node: Its syntax: of Python's parser, or of the tree of a language with braces.
        span: Its bytes, a compound statement's header alone.
        occurrences: The variables in it, in the order of the text.
        branch: Whether it is the header of a branch or a loop.
        described: Whether it is a docstring or the like, which does nothing.
        updates: Whether it reads all that it binds, as `x += 1` does.
    """

    statement: Statement
    node: ast.AST | Node
    span: Span
    occurrences: tuple[NameOccurrence, ...]
    branch: bool = False
    described: bool = False
    updates: bool = False

    @cached_property
    def binds(self) -> frozenset[str]:
        """The variables that it binds or whose objects it changes."""
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
