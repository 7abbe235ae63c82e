"""One parsed source file: its tree and positions are computed once and shared by all mutations."""

from __future__ import annotations

import builtins
import itertools
import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

import libcst as cst

from counterlens.mutations.parsed import FunctionSpan, ParsedFile
from counterlens.python.mutations.children import children, suites
from counterlens.python.mutations.reading import parse, spans
from counterlens.python.mutations.scopes import Scopes
from counterlens.python.mutations.variables import Scope
from counterlens.syntax.recursion import with_depth

Node = TypeVar("Node", bound=cst.CSTNode)
Suite = cst.BaseSuite


@dataclass(frozen=True, slots=True, eq=False)
class FunctionNode(FunctionSpan):
    """A function definition and its position, from its `def` or `async def` to the end of its last statement.

    Attributes:
        node: Its definition.
    """

    node: cst.FunctionDef


class Module(ParsedFile[FunctionNode]):
    """A source file, its tree, and the position of each node. Offsets are UTF-8 bytes.

    Raises:
        SourceError: it does not parse.
    """

    language = "python"
    reserved = frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins)))

    def __init__(self, source: str) -> None:
        self.tree = parse(source)
        super().__init__(source)
        self._spans = with_depth(lambda: spans(self.tree, self.data))
        self._parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self._by_type: dict[type[cst.CSTNode], list[cst.CSTNode]] = {}
        self._functions: list[FunctionNode] = []
        with_depth(self._make_index)

    @property
    def functions(self) -> Sequence[FunctionNode]:
        """Like `ParsedFile.functions`."""
        return self._functions

    # Nodes and scopes

    def nodes(self, *types: type[Node]) -> Iterator[Node]:
        """All nodes of exactly these classes, class by class, in source order within each."""
        for kind in types:
            yield from cast("list[Node]", self._by_type.get(kind, ()))

    def parent(self, node: cst.CSTNode) -> cst.CSTNode:
        """The parent of a node; the module is its own parent."""
        return self._parents.get(node, self.tree)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The ancestors of a node, innermost first, the module last."""
        while (above := self._parents.get(node)) is not None:
            yield above
            node = above

    @cached_property
    def long_strings(self) -> list[tuple[int, int]]:
        """Like `ParsedFile.long_strings`."""
        strings = self.nodes(cst.SimpleString, cst.FormattedString, cst.TemplatedString)
        spans = (self.span(string) for string in strings)
        return sorted(span for span in spans if self.line(span[0]) < self.line(span[1] - 1))

    @property
    def newline(self) -> str:
        """Like `ParsedFile.newline`."""
        return self.tree.default_newline

    @cached_property
    def scopes(self) -> Scopes:
        """Its scopes, and the variable to which each name refers."""
        return with_depth(lambda: Scopes(self.tree))

    def descendants(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """A node and all its descendants, in preorder."""
        yield node
        for child in children(node):
            yield from self.descendants(child)

    def scope_of(self, node: cst.CSTNode) -> Scope:
        """The scope that contains a node."""
        for above in self.ancestors(node):
            scope = self.scopes.of_node.get(above)
            if scope is not None:
                return scope
        return self.scopes.module

    def free_name(self, name: str, depth: int = 0) -> str:
        """A name that does not occur in the file, the same for the same `name` and `depth`."""
        suffixes = ("" if not number else str(number + 1) for number in itertools.count())
        free = (f"{name}{suffix}" for suffix in suffixes if f"{name}{suffix}" not in self.words)
        return next(itertools.islice(free, depth, None))

    @cached_property
    def words(self) -> frozenset[str]:
        """Like `ParsedFile.words`."""
        return frozenset(re.findall(r"\w+", self.source))

    # Positions

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """A node's byte range, without its parentheses and the whitespace around it."""
        return self._spans[node]

    def start(self, node: cst.CSTNode) -> int:
        """The offset of a node's first byte."""
        return self._spans[node][0]

    def end(self, node: cst.CSTNode) -> int:
        """The offset after a node's last byte."""
        return self._spans[node][1]

    def outer(self, node: cst.BaseExpression) -> tuple[int, int]:
        """An expression's byte range with its parentheses."""
        start, end = self._spans[node]
        if node.lpar:
            return self._spans[node.lpar[0]][0], self._spans[node.rpar[-1]][1]
        return start, end

    def text(self, span: tuple[int, int]) -> str:
        """The text of a byte range."""
        return self.data[span[0] : span[1]].decode("utf-8", "replace")

    def indentation(self, node: cst.CSTNode) -> str:
        """The whitespace at the beginning of a node's line."""
        line = self.data[self.line_start(self.start(node)) : self.start(node)]
        return line[: len(line) - len(line.lstrip(b" \t\f"))].decode()

    def suite(self, suite: Suite) -> tuple[int, int]:
        """A body's byte range, from after the colon to the end of its last line, without the newline."""
        if isinstance(suite, cst.IndentedBlock):
            start = self.start(suite.header)
        else:
            start = self.start(cst.ensure_type(suite, cst.SimpleStatementSuite).leading_whitespace)
        return start, self.without_newline(self._suite_end(suite))

    def statement_end(self, statement: cst.CSTNode) -> int:
        """The offset after a statement's last line, newline included."""
        if isinstance(statement, cst.SimpleStatementLine):
            return self.end(statement.trailing_whitespace)
        if isinstance(statement, cst.Match):
            if statement.footer:
                return self.end(statement.footer[-1])
            return self._suite_end(statement.cases[-1].body)
        if isinstance(statement, cst.Try | cst.TryStar):
            parts = (statement.finalbody, statement.orelse, *reversed(statement.handlers))
            last: cst.CSTNode = next(part for part in parts if part is not None)
            return self._suite_end(_body(last))
        orelse = getattr(statement, "orelse", None)
        while isinstance(orelse, cst.If):  # a loop, because generated code may have thousands of `elif`
            statement, orelse = orelse, orelse.orelse
        return self._suite_end(_body(statement if orelse is None else orelse))

    def _suite_end(self, suite: Suite) -> int:
        if isinstance(suite, cst.SimpleStatementSuite):
            return self.end(suite.trailing_whitespace)
        block = cst.ensure_type(suite, cst.IndentedBlock)
        if block.footer:
            return self.end(block.footer[-1])
        return self.statement_end(block.body[-1])

    def without_newline(self, end: int) -> int:
        """An offset after a line, moved before that line's newline."""
        for newline in (b"\r\n", b"\n", b"\r"):
            if self.data.endswith(newline, 0, end):
                return end - len(newline)
        return end

    # Functions

    def lines_of(self, function: FunctionSpan) -> list[int]:
        """Offsets of the lines on which a statement of a function begins, without its docstring."""
        return self._statement_lines.get(function, [])

    @cached_property
    def _statement_lines(self) -> dict[FunctionSpan, list[int]]:
        lines: dict[FunctionSpan, list[int]] = {}
        owners: list[tuple[FunctionSpan, cst.FunctionDef | cst.Module]] = [(self.program, self.tree)]
        owners += [(function, function.node) for function in self.functions]
        for span, node in owners:
            lines[span] = []
            body = node if isinstance(node, cst.Module) else node.body
            if isinstance(body, cst.Module | cst.IndentedBlock):
                first = 1 if node.get_docstring(clean=False) is not None else 0
                for statement in body.body[first:]:
                    self._collect_lines(statement, lines[span])
        return lines

    def _collect_lines(self, statement: cst.CSTNode, lines: list[int]) -> None:
        decorators = getattr(statement, "decorators", ())
        start = self.start(decorators[0] if decorators else statement)
        line = self.line_start(start)
        if not self.data[line:start].strip():
            lines.append(line)
        for suite in suites(statement):
            if isinstance(suite, cst.IndentedBlock):
                for inner in suite.body:
                    self._collect_lines(inner, lines)

    # The index

    def _make_index(self) -> None:
        self._parents.clear()
        self._by_type.clear()
        self._functions.clear()
        self._index(self.tree, ())

    def _index(self, node: cst.CSTNode, path: tuple[str, ...]) -> None:
        by_type, parents = self._by_type, self._parents
        by_type.setdefault(type(node), []).append(node)
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            path = (*path, node.name.value)
            if isinstance(node, cst.FunctionDef):
                start, end = self._spans[node]
                self._functions.append(FunctionNode(".".join(path), start, end, node))
        for child in children(node):
            parents[child] = node
            self._index(child, path)


def _body(node: cst.CSTNode) -> Suite:
    return cast("Suite", getattr(node, "body"))  # noqa: B009 - CSTNode does not declare it
