"""Parsing a source into a LibCST tree with the byte ranges of its nodes, despite two limits of LibCST."""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider
from libcst.metadata.span_provider import SpanProvidingCodegenState

from counterlens.errors import SourceError
from counterlens.python.syntax.parsing import parse_module
from counterlens.python.syntax.versions import (
    form_feed_in_indentation,
    newer_syntax,
    parse_concrete,
)
from counterlens.syntax.grammars import parser_for

_PLACE = re.compile(r"^error at \d+:\d+: ")
_NOT_SYNTAX = {
    "leading_lines",
    "lines_after_decorators",
    "header",
    "footer",
    "trailing_whitespace",
    "semicolon",
    "comma",
    "equal",
    "lpar",
    "rpar",
    "lbracket",
    "rbracket",
    "lbrace",
    "rbrace",
    "colon",
    "dot",
    "asynchronous",
    "first_colon",
    "second_colon",
    "star",
    "leading_whitespace",
    "indent",
    "encoding",
    "default_indent",
    "default_newline",
    "has_trailing_newline",
    "relative",
    "trailing_comma",
    "separator",
}
# The node classes whose fields LibCST does not list in source order.
_TEXT_ORDER: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.FunctionDef: ("decorators", "name", "type_parameters", "params", "returns", "body"),
    cst.ClassDef: ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    cst.If: ("test", "body", "orelse"),
    cst.IfExp: ("body", "test", "orelse"),
    cst.For: ("target", "iter", "body", "orelse"),
    cst.CompFor: ("target", "iter", "ifs", "inner_for_in"),
    cst.DictComp: ("key", "value", "for_in"),
    cst.Try: ("body", "handlers", "orelse", "finalbody"),
    cst.TryStar: ("body", "handlers", "orelse", "finalbody"),
    cst.Lambda: ("params", "body"),
    cst.With: ("items", "body"),
    cst.ImportFrom: ("module", "names"),
    cst.ExceptHandler: ("type", "name", "body"),
    cst.ExceptStarHandler: ("type", "name", "body"),
    cst.MatchCase: ("pattern", "guard", "body"),
    cst.TypeAlias: ("name", "type_parameters", "value"),
    cst.Parameters: (
        "posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg",
    ),
    cst.Param: ("name", "annotation", "default"),
    cst.Arg: ("keyword", "value"),
    cst.NamedExpr: ("target", "value"),
    cst.AnnAssign: ("target", "annotation", "value"),
    cst.AugAssign: ("target", "operator", "value"),
    cst.BinaryOperation: ("left", "operator", "right"),
    cst.BooleanOperation: ("left", "operator", "right"),
    cst.Comparison: ("left", "comparisons"),
    cst.ComparisonTarget: ("operator", "comparator"),
    cst.UnaryOperation: ("operator", "expression"),
}  # fmt: skip


def parse(source: str) -> cst.Module:
    """Parse a source.

    Raises:
        SourceError: it is not valid Python; the message gives the line and the reason.
    """
    try:
        tree = parser_for("python").parse(source.encode())
    except UnicodeEncodeError as error:
        raise SourceError(
            f"the source contains a character that is not valid Unicode: {error.reason}"
        ) from None
    python_error = _python_syntax_error(source) if tree.root_node.has_error else None
    if python_error is not None and newer_syntax(source) is None:
        raise _parse_error(*python_error)
    line = form_feed_in_indentation(source, tree)
    if line is not None:
        raise SourceError(f"mutations cannot read the form feed in the indentation of line {line}")
    try:
        return parse_concrete(source, tree)
    except cst.ParserSyntaxError as error:
        raise _parse_error(
            *(_python_syntax_error(source) or (error.raw_line, _reason(error.message)))
        ) from None


def _parse_error(line: int, reason: str) -> SourceError:
    return SourceError(
        f"the source does not parse: line {line}: {reason}",
        "Fix it: mutations need valid Python",
    )


def _python_syntax_error(source: str) -> tuple[int, str] | None:
    """Line and reason of Python's own syntax error: LibCST reports tokenizer errors on line 1."""
    try:
        parse_module(source)
    except SyntaxError as error:
        return (error.lineno, error.msg) if error.lineno else None
    except (RecursionError, ValueError, MemoryError):
        return None
    return None


def spans(tree: cst.Module, data: bytes) -> dict[cst.CSTNode, tuple[int, int]]:
    """Each node's byte range in the source from which a tree was parsed."""
    state = _NodeSpans(tree)
    tree._codegen(state)
    size = len(data)
    code = "".join(state.tokens).encode()
    if code == data:
        return {node: (start, min(end, size)) for node, (start, end) in state.found.items()}
    lost = _lost_whitespace(code, data)

    def moved(offset: int, before: bool) -> int:
        return min(size, offset + bisect_right(lost, offset - before))

    return {
        node: (moved(start, before=False), moved(end, before=True))
        for node, (start, end) in state.found.items()
    }


class _NodeSpans(SpanProvidingCodegenState):
    """Generates the code of a tree, and notes the byte range of each node meanwhile.

    LibCST's own provider of metadata gives the same ranges, but visits the tree once more, and does not give
    the code.

    Attributes:
        found: The start and the end of each node.
    """

    def __init__(self, tree: cst.Module) -> None:
        provider = ByteSpanPositionProvider()  # unused, but required
        super().__init__(tree.default_indent, tree.default_newline, provider)
        self.found: dict[cst.CSTNode, tuple[int, int]] = {}

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.add_token(token)

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.position += len(value) if value.isascii() else len(value.encode())

    def after_codegen(self, node: cst.CSTNode) -> None:
        """Note a node without a range of its own, from its first token to its last one."""
        start = self._stack.pop()
        if node not in self.found:
            self.found[node] = start, self.position

    def record_syntactic_position(  # type: ignore[override]  # any context manager will do
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> AbstractContextManager[None]:
        """Note the range of a node without the blanks that it owns, once the context is left."""
        return _OwnRange(self, node, start_node, end_node)


class _OwnRange(AbstractContextManager[None]):
    """Notes the range of a node; `contextmanager` would make a slower one."""

    __slots__ = ("_end", "_node", "_spans", "_start", "_started")

    def __init__(
        self, spans: _NodeSpans, node: cst.CSTNode, start: cst.CSTNode | None, end: cst.CSTNode | None
    ) -> None:
        self._spans, self._node, self._start, self._end = spans, node, start, end
        self._started = spans.position

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            spans = self._spans.found
            start = self._started if self._start is None else spans[self._start][0]
            end = self._spans.position if self._end is None else spans[self._end][1]
            spans[self._node] = start, end


def _lost_whitespace(code: bytes, data: bytes) -> list[int]:
    """Offsets in `code` before which a blank of the source is missing, once for each blank.

    LibCST 1.9 loses blanks in rare cases: before the colon of `except (A, B) :`, a lone carriage return at
    the end, an empty line before a line of blanks.
    """
    lost: list[int] = []
    at = 0
    for byte in data:
        if at < len(code) and code[at] == byte:
            at += 1
        elif byte in b" \t\f\r\n":
            lost.append(at)
        else:
            break
    else:
        if at == len(code):
            return lost
    raise SourceError(
        "the parser does not reproduce the source byte for byte",
        "This is a defect of the parser; please report it with the file",
    )


def _reason(message: str) -> str:
    first = message.strip().splitlines()[0] if message.strip() else "it is not valid Python"
    return _PLACE.sub("", first.removeprefix("parser error: ")).rstrip(".")


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The syntactic children of a node, in source order: no whitespace, brackets or commas."""
    nodes: list[cst.CSTNode] = []
    for name in child_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            nodes.append(value)
        elif isinstance(value, tuple | list):
            nodes.extend(value)
    return nodes


@cache
def child_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """The fields of a node class that hold syntactic children, in source order."""
    names = [field.name for field in dataclasses.fields(kind)]
    wanted = [n for n in names if not n.startswith(("whitespace", "ensure")) and n not in _NOT_SYNTAX]
    first = _TEXT_ORDER.get(kind, ())
    return (*first, *(name for name in wanted if name not in first))


def suites(statement: cst.CSTNode) -> Iterator[cst.BaseSuite]:
    """The bodies of a compound statement, those of its elif branches included."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        value = getattr(statement, name, None)
        if isinstance(value, cst.BaseSuite):
            yield value
        elif isinstance(value, tuple | list) and name != "body":
            for part in value:
                yield part.body
        elif isinstance(value, cst.Else | cst.Finally):
            yield value.body
        elif isinstance(value, cst.If):
            yield from suites(value)
