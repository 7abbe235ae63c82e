"""The examined function: its text, and the positions of its statements and names.

Rules:

- The text is the function's own, from its first decorator to its last line, indented as in the file; line
  ends are single newlines.
- A compound statement is its header; a nested function or class is all of its text, because its body is
  no statement of the function.
- What a statement binds: names that are stored to, parameters, imports, exception and capture names; and,
  because objects change, the variables at the root of a stored attribute or subscript and of the receiver of
  a method called for its effect (`x.append(v)` as a statement). This follows from the syntax alone: no
  analysis could leak the answer.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from counterlens.dependence import MODULE, Dependences, Kind, Statement
from counterlens.errors import SourceError

Span = tuple[int, int]
"""Bytes of the subject's text: start, and end behind the last one."""
StatementPair = tuple[int, int]
"""The ids of the statement that is depended on, and of the one that depends on it."""

BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Match, ast.match_case, ast.ExceptHandler)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BODIES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})


class Relation(StrEnum):
    """Which dependences: the two kinds that Nguyen et al. 2024 and CoRe ask about."""

    CONTROL = "control"
    DATA = "data"


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
        node: Its syntax.
        span: Its bytes, a compound statement's header alone.
        occurrences: The variables in it, in the order of the text.
    """

    statement: Statement
    node: ast.AST
    span: Span
    occurrences: tuple[NameOccurrence, ...]

    @cached_property
    def binds(self) -> frozenset[str]:
        """The variables that it binds or whose objects it changes."""
        return frozenset(
            occurrence.name for occurrence in self.occurrences if occurrence.role is not NameRole.READ
        )

    @cached_property
    def reads(self) -> tuple[NameOccurrence, ...]:
        """Its reads of variables."""
        augmented = isinstance(self.node, ast.AugAssign)
        return tuple(
            occurrence
            for occurrence in self.occurrences
            if augmented or occurrence.role is not NameRole.BOUND
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """All variables that occur in it."""
        return frozenset(occurrence.name for occurrence in self.occurrences)

    @property
    def branch(self) -> bool:
        """Whether it is the header of a branch or a loop."""
        return isinstance(self.node, BRANCHES)


@dataclass(frozen=True)
class ExaminedFunction:
    """A function to be examined.

    Attributes:
        dependences: Its result in the analysis.
        data: Its text, UTF-8.
        parts: Its statements, by their id.
        starts: The offset of each line of the file, in bytes of the text; negative before it.
    """

    dependences: Dependences
    data: bytes
    parts: tuple[Part, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, found: Dependences) -> ExaminedFunction:
        """Read a function.

        Raises:
            SourceError: there is nothing in it.
        """
        require_statements(found)
        lines = _lines(found.source)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        first, last = 0, len(lines)
        if found.function != MODULE:
            node = found.syntax[0]
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1  # type: ignore[attr-defined]
            last = node.end_lineno  # type: ignore[attr-defined]
        data = b"".join(lines[first:last]).rstrip(b"\n")
        offsets = tuple(start - starts[first] for start in starts)
        reader = _Reader(data, offsets)
        both = zip(found.statements, found.syntax, strict=True)
        return cls(found, data, tuple(reader.part(*each) for each in both), offsets)

    def span(self, node: ast.expr) -> Span:
        """The bytes of an expression."""
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def indentation(self, part: Part) -> str:
        """The blanks that a statement's line starts with."""
        line = self.data[self.data.rfind(b"\n", 0, part.span[0]) + 1 : part.span[0]].decode()
        return line[: len(line) - len(line.lstrip())]

    def line_of(self, part: Part) -> Span:
        """The bytes of a statement and of the line break and indentation before it, if it starts its line."""
        start, end = part.span
        line = self.data.rfind(b"\n", 0, start)
        blank = not self.data[max(line, 0) : start].strip()
        return (max(line, 0) if blank else start), end

    @property
    def text(self) -> str:
        """Its text."""
        return self.data.decode()


def require_statements(found: Dependences) -> None:
    """Refuse a function in which there is nothing.

    Raises:
        SourceError: there is nothing in it.
    """
    if not found.statements:
        raise SourceError(f"{found.function} has no statements, so it has no dependences")


def true_edges(subject: ExaminedFunction, relation: Relation) -> dict[StatementPair, tuple[str, ...]]:
    """The edges of the dependence graph, in order, with the variables of data dependences."""
    return edges_of(subject.dependences, relation)


def edges_of(dependences: Dependences, relation: Relation) -> dict[StatementPair, tuple[str, ...]]:
    """The edges of a dependence graph in any language, in order, with the variables of data dependences."""
    found: dict[StatementPair, set[str]] = {}
    for edge in dependences.edges:
        if (edge.kind is Kind.CONTROL) == (relation is Relation.CONTROL):
            found.setdefault((edge.source, edge.target), set()).update({edge.variable} - {""})
    return {pair: tuple(sorted(names)) for pair, names in sorted(found.items())}


class _Reader:
    """Places statements and names in the text."""

    def __init__(self, data: bytes, starts: tuple[int, ...]) -> None:
        self._data, self._starts = data, starts

    def part(self, statement: Statement, node: ast.AST) -> Part:
        text = statement.text.encode()
        if isinstance(node, ast.match_case):
            start = self._data.index(text, self._starts[statement.line - 1])
        else:
            start = self._at(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        end = start + len(text)
        if isinstance(node, DEFINITIONS) and statement.id > 0:
            end = self._at(node.end_lineno or 0, node.end_col_offset or 0)
        found = {
            occurrence.span: occurrence
            for occurrence in self._occurrences(node, (start, end), header=statement.id == 0)
        }
        return Part(statement, node, (start, end), tuple(found[span] for span in sorted(found)))

    def _at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def _occurrences(self, node: ast.AST, span: Span, *, header: bool) -> Iterator[NameOccurrence]:
        whole = isinstance(node, DEFINITIONS) and not header
        nodes = [n for part in ([node] if whole else _header(node)) for n in _visible(part)]
        changed = set() if whole else set(_changed(node))
        for inner in nodes:
            if isinstance(inner, ast.Name):
                at = self._at(inner.lineno, inner.col_offset)
                role = NameRole.CHANGED if inner in changed else NameRole.READ
                if not isinstance(inner.ctx, ast.Load) and not whole:
                    role = NameRole.BOUND
                yield NameOccurrence(inner.id, (at, at + len(inner.id.encode())), role)
            elif isinstance(inner, ast.arg) and not whole:
                at = self._at(inner.lineno, inner.col_offset)
                yield NameOccurrence(inner.arg, (at, at + len(inner.arg.encode())), NameRole.BOUND)
        for name in _named(node, nodes):
            found = list(re.finditer(rb"\b%s\b" % re.escape(name.encode()), self._data[span[0] : span[1]]))
            if found:
                which = found[0] if whole else found[-1]
                yield NameOccurrence(name, (span[0] + which.start(), span[0] + which.end()), NameRole.BOUND)


def _header(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement that are evaluated in its header; of a simple one, itself."""
    if not hasattr(node, "body") and not isinstance(node, ast.Match):
        yield node
        return
    for name, value in ast.iter_fields(node):
        if name not in _BODIES and name != "decorator_list":
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield child


def _visible(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes, but for the names that belong to a comprehension or a lambda alone."""
    stack: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
    while stack:
        inner, hidden = stack.pop()
        if isinstance(inner, ast.Name) and inner.id in hidden:
            continue
        if isinstance(inner, ast.Lambda):
            arguments = {a for a in ast.walk(inner.args) if isinstance(a, ast.arg)}
            hidden |= {argument.arg for argument in arguments}
            stack += [
                (child, hidden)
                for child in (*inner.args.defaults, *inner.args.kw_defaults, inner.body)
                if child
            ]
            continue
        if isinstance(inner, _COMPREHENSIONS):
            targets = [n for each in inner.generators for n in ast.walk(each.target)]
            hidden |= {n.id for n in targets if isinstance(n, ast.Name)}
        yield inner
        stack += [(child, hidden) for child in ast.iter_child_nodes(inner)]


def _changed(node: ast.AST) -> Iterator[ast.Name]:
    """The names whose objects a statement changes."""
    if isinstance(node, ast.Expr):
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            yield from _root(call.func.value)
        return
    for part in _header(node):
        for inner in ast.walk(part):
            if isinstance(inner, ast.Attribute | ast.Subscript) and not isinstance(inner.ctx, ast.Load):
                yield from _root(inner)


def _root(node: ast.expr) -> Iterator[ast.Name]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        yield node


def _named(node: ast.AST, nodes: list[ast.AST]) -> Iterator[str]:
    """Names that a statement binds and whose position the parser does not tell."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif (isinstance(node, ast.ExceptHandler) and node.name) or (
        isinstance(node, DEFINITIONS) and node in nodes[:1]
    ):
        yield node.name or ""
    for inner in nodes:
        if isinstance(inner, ast.MatchAs | ast.MatchStar) and inner.name:
            yield inner.name
        elif isinstance(inner, ast.MatchMapping) and inner.rest:
            yield inner.rest


def _lines(text: str) -> list[bytes]:
    data = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace")
    return [line + b"\n" for line in data.split(b"\n")]
