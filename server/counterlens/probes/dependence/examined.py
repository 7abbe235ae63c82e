"""The examined function: its text, the positions of its statements and names, and the ways to change them.

Rules:

- The text is the function's own, from its first decorator to its last line, indented as in the file; line
  ends are single newlines.
- A compound statement is its header; a nested function or class is all of its text, because its body is not
  a statement of the function.
- A statement binds the names that it stores to, parameters, imports, exception and capture names; and,
  because objects are mutable, the variables at the root of a stored attribute or subscript and of the
  receiver of a method called for its effect (`x.append(v)` as a statement). This follows from the syntax
  alone: no analysis could leak the answer. Each language implements it (`Language.examined`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from counterlens.dependence import MODULE, Dependences, Kind, Statement
from counterlens.errors import SourceError
from counterlens.languages.part import LanguagePart

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


class Intervention(StrEnum):
    """The kind of change to a statement."""

    RENAME = "rename"
    HIDE = "hide"
    REPLACE = "replace"
    DELETE = "delete"
    NEGATE = "negate"
    NEUTRALISE = "neutralise"


class Relation(StrEnum):
    """The kinds of dependences: the two that Nguyen et al. 2024 and CoRe ask about."""

    CONTROL = "control"
    DATA = "data"


@dataclass(frozen=True, slots=True)
class ExaminedLanguage:
    """The reading of a language's statements.

    Attributes:
        lines: The first line of a function, from 0 and with its decorators or annotations, and the one after
            its last; the argument is the syntax node of its header.
        parts: The statements of a function; the arguments are those of `ExaminedFunction`.
    """

    lines: Callable[[Any], tuple[int, int]]
    parts: Callable[[Dependences, bytes, tuple[int, ...]], Iterator[Part]]


EXAMINED: LanguagePart[ExaminedLanguage] = LanguagePart("examined", ExaminedLanguage)
"""The reading of each language's statements."""


@dataclass(frozen=True)
class ExaminedFunction:
    """A function to be examined.

    Attributes:
        dependences: The result of its analysis.
        data: Its text, UTF-8.
        parts: Its statements, by their id.
        starts: The offset of each line of the file, in bytes of the text; negative before it.
    """

    dependences: Dependences
    data: bytes
    parts: tuple[Part, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, graph: Dependences) -> ExaminedFunction:
        """Read a function.

        Raises:
            SourceError: it has no statements.
        """
        require_statements(graph)
        lines = _lines(graph.source)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        first, last = _range(graph) or (0, len(lines))
        data = b"".join(lines[first:last]).rstrip(b"\n")
        offsets = tuple(start - starts[first] for start in starts)
        return cls(graph, data, tuple(EXAMINED.require(graph.language).parts(graph, data, offsets)), offsets)

    def indentation(self, part: Part) -> str:
        """The indentation of a statement's line."""
        line = self.data[self.data.rfind(b"\n", 0, part.span[0]) + 1 : part.span[0]].decode()
        return line[: len(line) - len(line.lstrip())]

    def line_of(self, part: Part) -> Span:
        """The bytes of a statement, with the line break and indentation before it if it starts its line."""
        start, end = part.span
        line = self.data.rfind(b"\n", 0, start)
        blank = not self.data[max(line, 0) : start].strip()
        return (max(line, 0) if blank else start), end

    @property
    def language(self) -> str:
        """The id of its language."""
        return self.dependences.language

    @property
    def text(self) -> str:
        """Its text."""
        return self.data.decode()


def require_statements(graph: Dependences) -> None:
    """Refuse a function without statements.

    Raises:
        SourceError: it has no statements.
    """
    if not graph.statements:
        raise SourceError(f"{graph.function} has no statements, so it has no dependences")


def _range(graph: Dependences) -> tuple[int, int] | None:
    """The first line of a function, from 0, and the one after its last; None for all of the source."""
    if graph.function == MODULE:
        return None
    return EXAMINED.require(graph.language).lines(graph.nodes[0])


def true_edges(subject: ExaminedFunction, relation: Relation) -> dict[StatementPair, tuple[str, ...]]:
    """The edges of the dependence graph, in order, with the variables of data dependences."""
    return edges_of(subject.dependences, relation)


def edges_of(dependences: Dependences, relation: Relation) -> dict[StatementPair, tuple[str, ...]]:
    """The edges of a dependence graph in any language, in order, with the variables of data dependences."""
    variables: dict[StatementPair, set[str]] = {}
    for edge in dependences.edges:
        if (edge.kind is Kind.CONTROL) == (relation is Relation.CONTROL):
            variables.setdefault((edge.source, edge.target), set()).update({edge.variable} - {""})
    return {pair: tuple(sorted(names)) for pair, names in sorted(variables.items())}


def _lines(text: str) -> list[bytes]:
    data = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace")
    return [line + b"\n" for line in data.split(b"\n")]


StatementChange = Callable[[ExaminedFunction, Part], StatementEdits]
"""The edits that change one statement of a function; none if it cannot be changed that way."""
