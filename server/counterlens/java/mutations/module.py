"""`JavaModule`: one parsed Java file, with its nodes by type and their positions."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from tree_sitter import Node

from counterlens.errors import SourceError
from counterlens.java.mutations.variables import JavaScopes
from counterlens.java.syntax import escape_that_is_syntax
from counterlens.mutations.parsed import FunctionSpan, ParsedSource, quote
from counterlens.syntax.definitions import definitions
from counterlens.syntax.grammars import parser_for

_TYPES = {
    "class_declaration",
    "interface_declaration",
    "enum_declaration",
    "record_declaration",
    "annotation_type_declaration",
}
_SEQUENCES = {"block", "constructor_body", "switch_block_statement_group"}
_COMMENTS = {"line_comment", "block_comment"}
_RESERVED = """
    abstract assert boolean break byte case catch char class const continue default do double else enum
    exports extends false final finally float for goto if implements import instanceof int interface long
    module native new non null open opens package permits private protected provides public record requires
    return sealed short static strictfp super switch synchronized this throw throws to transient transitive
    true try uses var void volatile when while with yield
"""


class JavaModule(ParsedSource):
    """A Java file, its tree, and the position of each node. Offsets are UTF-8 bytes.

    Raises:
        SourceError: the source does not parse.
    """

    language = "java"
    reserved = frozenset(_RESERVED.split())

    def __init__(self, source: str) -> None:
        escape = escape_that_is_syntax(source)
        if escape is not None:
            raise SourceError(escape)
        super().__init__(source)
        self.tree = parser_for("java").parse(self.data)
        self.root = self.tree.root_node
        self._parents: dict[int, Node] = {}
        self._by_type: dict[str, list[Node]] = {}
        self.newline = "\r\n" if "\r\n" in source else "\n"
        self.functions: list[FunctionSpan] = []
        self.function_nodes: dict[int, Node] = {}
        todo = [self.root]
        while todo:
            node = todo.pop()
            if node.is_error or node.is_missing:
                raise SourceError(f"line {node.start_point.row + 1} does not parse as Java")
            self._by_type.setdefault(node.type, []).append(node)
            for child in reversed(node.children):
                self._parents[child.id] = node
                todo.append(child)
        for name, definition in definitions(self.root, self.language):
            self.functions.append(FunctionSpan(name, definition.node.start_byte, definition.node.end_byte))
            self.function_nodes[definition.node.start_byte] = definition.node

    # Nodes and scopes

    def nodes(self, *types: str) -> Iterator[Node]:
        """All nodes of these types, type by type, in source order within each."""
        for kind in types:
            yield from self._by_type.get(kind, ())

    def parent(self, node: Node) -> Node:
        """The parent of a node; the root is its own parent."""
        return self._parents.get(node.id, self.root)

    def ancestors(self, node: Node) -> Iterator[Node]:
        """The ancestors of a node, innermost first, the root last."""
        while (above := self._parents.get(node.id)) is not None:
            yield above
            node = above

    def text(self, node: Node) -> str:
        """The text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def shown(self, node: Node) -> str:
        """A node as quoted in a description."""
        return quote(self.text(node))

    @cached_property
    def scopes(self) -> JavaScopes:
        """The local variable to which each name refers."""
        return JavaScopes(self.root)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(re.findall(r"[\w$]+", self.source))

    @cached_property
    def declared_types(self) -> frozenset[str]:
        """The names of the classes, interfaces, enums, records and type parameters of the file."""
        names = (node.child_by_field_name("name") for node in self.nodes(*_TYPES))
        parameters = (node.named_children[-1] for node in self.nodes("type_parameter") if node.named_children)
        return frozenset(self.text(name) for name in (*names, *parameters) if name is not None)

    @cached_property
    def declarators(self) -> dict[str, list[Node]]:
        """The identifiers that declare the fields and local variables of the file, by name."""
        identifiers: dict[str, list[Node]] = {}
        for declarator in self.nodes("variable_declarator"):
            name = declarator.child_by_field_name("name")
            if name is not None:
                identifiers.setdefault(self.text(name), []).append(name)
        return identifiers

    def statements(self, around: Node) -> list[Node]:
        """The statements of a block, in order, without comments and switch labels."""
        skipped = _COMMENTS | {"switch_label"}
        return [child for child in around.named_children if child.type not in skipped]

    def in_sequence(self, node: Node) -> bool:
        """Whether a statement is in a block, so that another statement may be added beside it."""
        return self.parent(node).type in _SEQUENCES

    # Positions

    def begins_line(self, offset: int) -> bool:
        """Whether only blanks precede an offset on its line."""
        return not self.data[self.line_start(offset) : offset].strip()

    def indentation(self, offset: int) -> str:
        """The blanks at the beginning of an offset's line."""
        line = self.data[self.line_start(offset) : offset]
        return line[: len(line) - len(line.lstrip(b" \t\f"))].decode()

    @cached_property
    def indent(self) -> str:
        """The indentation of a block relative to its surroundings, taken from the first block of the file."""
        for block in self.nodes("block", "class_body"):
            for child in block.named_children:
                inner, outer = self.indentation(child.start_byte), self.indentation(block.end_byte - 1)
                if self.begins_line(child.start_byte) and inner.startswith(outer) and inner != outer:
                    return inner[len(outer) :]
        return "    "

    @cached_property
    def long_strings(self) -> list[tuple[int, int]]:
        """Like `ParsedFile.long_strings`: its text blocks."""
        strings = self.nodes("string_literal")
        return [(s.start_byte, s.end_byte) for s in strings if s.start_point.row < s.end_point.row]

    # Functions

    def lines_of(self, function: FunctionSpan) -> list[int]:
        lines = self._statement_lines
        return lines[bisect_left(lines, function.start) : bisect_left(lines, function.end)]

    @cached_property
    def _statement_lines(self) -> list[int]:
        """Return the starts of the lines on which a statement of a block begins."""
        inside = (
            self.line_start(statement.start_byte)
            for block in self.nodes(*_SEQUENCES)
            for statement in self.statements(block)
            if self.begins_line(statement.start_byte)
        )
        return sorted(set(inside))
