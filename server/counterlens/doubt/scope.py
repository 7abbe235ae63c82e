"""`DoubtScope`: the part of a function that can be in doubt, and the names known in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import tree_sitter

from counterlens.doubt.argument_order import ArgumentOrder
from counterlens.doubt.attribute_use import attribute_use
from counterlens.syntax.definitions import text_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions
from counterlens.syntax.operators import OperatorSite, operator_sites

_UNPACKED = frozenset({"typed_parameter", "list_splat_pattern", "dictionary_splat_pattern"})

_CERTAIN = frozenset(
    {"comment", "string", "import_statement", "import_from_statement", "parameters", "lambda_parameters"}
    | {"decorator", "type", "global_statement", "nonlocal_statement", "type_alias_statement"}
)
"""Nodes that are never in doubt."""
_NO_READING = frozenset({"as_pattern_target", "except_clause", "delete_statement", "case_pattern"})
_NO_VARIABLES = frozenset(
    {("call", "function"), ("keyword_argument", "name"), ("function_definition", "name")}
    | {("class_definition", "name")}
)
_BINDS = {
    "assignment": "left",
    "augmented_assignment": "left",
    "for_statement": "left",
    "for_in_clause": "left",
    "named_expression": "name",
}
"""Nodes that bind names, and the field with the names."""


@dataclass(frozen=True)
class DoubtFile:
    """A document, with data shared by its functions and computed once."""

    document: Document

    @cached_property
    def nodes(self) -> tuple[tree_sitter.Node, ...]:
        """All named nodes, in the order of the text."""
        nodes: list[tree_sitter.Node] = []
        pending = [self.document.tree.root_node]
        while pending:
            node = pending.pop()
            nodes.append(node)
            pending.extend(reversed(node.named_children))
        return tuple(nodes)

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """All functions, outer ones before the ones nested in them."""
        return tuple(functions(self.document))

    @cached_property
    def mentioned(self) -> dict[str, frozenset[str]]:
        """The names and attributes in each outermost function or method, by its qualified name."""
        outer = [each for each in self.functions if not any(other.holds(each) for other in self.functions)]
        mentions: dict[str, set[str]] = {each.qualname: set() for each in outer}
        starts = [each.body for each in outer]
        for node in self.nodes:
            at = bisect_right(starts, node.start_byte) - 1 if node.type == "identifier" else -1
            if at >= 0 and node.start_byte < outer[at].end:
                mentions[outer[at].qualname].add(text_of(node))
        return {name: frozenset(names) for name, names in mentions.items()}

    def callers(self, qualname: str) -> list[str]:
        """The other outermost functions that mention a function by its name."""
        name = qualname.rpartition(".")[2]
        return [each for each, names in self.mentioned.items() if each != qualname and name in names]

    @cached_property
    def operators(self) -> tuple[OperatorSite, ...]:
        """All binary operators, in the order of the text."""
        return tuple(operator_sites(self.document))

    @cached_property
    def attributes(self) -> dict[str, dict[str, set[str]]]:
        """The attributes used on each name, with the roles of each."""
        uses: dict[str, dict[str, set[str]]] = {}
        for used in filter(None, map(attribute_use, self.nodes)):
            uses.setdefault(text_of(used.receiver), {}).setdefault(text_of(used.name), set()).add(used.role)
        return uses

    @cached_property
    def argument_order(self) -> ArgumentOrder:
        """Evidence for the order of the arguments of each call."""
        return ArgumentOrder.of(self.nodes)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The names that assignments at the top of the module bind."""
        statements = [
            statement.named_children[0]
            for statement in self.document.tree.root_node.named_children
            if statement.type == "expression_statement" and statement.named_children
        ]
        names = (
            text_of(name)
            for node in statements
            if node.type == "assignment"
            for name in _bound_identifiers(node)
        )
        return tuple(dict.fromkeys(name for name in names if not name.startswith("__")))

    @cached_property
    def awaited(self) -> frozenset[str]:
        """Names called with `await`, or defined by `async def`, as written in a call."""
        names: set[str] = set()
        for node in self.nodes:
            if node.type == "function_definition" and node.children[0].type == "async":
                name = node.child_by_field_name("name")
                names |= {text_of(name), f"self.{text_of(name)}"} if name is not None else set()
            elif node.type == "await" and node.named_children and node.named_children[0].type == "call":
                called = node.named_children[0].child_by_field_name("function")
                names |= {text_of(called)} if called is not None else set()
        return frozenset(names)


@dataclass(frozen=True)
class DoubtScope:
    """An outermost function or method of a document, including inner functions.

    Attributes:
        file: The document, with shared data.
    """

    file: DoubtFile
    function: Function

    @property
    def document(self) -> Document:
        """The document."""
        return self.file.document

    @cached_property
    def root(self) -> tree_sitter.Node:
        """The function's node."""
        node = self.document.tree.root_node.descendant_for_byte_range(self.function.header, self.function.end)
        while node is not None and node.type != "function_definition":
            node = node.parent
        assert node is not None
        return node

    @property
    def name(self) -> tuple[int, int]:
        """The byte range of the function's name."""
        name = self.root.child_by_field_name("name")
        assert name is not None
        return name.start_byte, name.end_byte

    @cached_property
    def start(self) -> int:
        """The first byte of the first statement that is not the docstring."""
        body = self.root.child_by_field_name("body")
        statements = (
            [statement for statement in body.named_children if statement.type != "comment"] if body else []
        )
        if statements and is_docstring(statements[0]):
            statements = statements[1:]
        return statements[0].start_byte if statements else self.function.end

    @cached_property
    def nodes(self) -> tuple[tree_sitter.Node, ...]:
        """All nodes that can be in doubt, parents first, in the order of the text."""
        nodes: list[tree_sitter.Node] = []
        pending = [self.root]
        while pending:
            node = pending.pop()
            if node.type in _CERTAIN or is_docstring(node) or node.is_missing or node.type == "ERROR":
                continue
            nodes.append(node)
            pending.extend(reversed(node.children))
        return tuple(node for node in nodes if node.start_byte >= self.start)

    @cached_property
    def defaults(self) -> tuple[tree_sitter.Node, ...]:
        """All nodes in the defaults of the parameters, parents first."""
        listed = self.root.child_by_field_name("parameters")
        values = [
            parameter.child_by_field_name("value") for parameter in (listed.named_children if listed else ())
        ]
        pending = [value for value in values if value is not None]
        nodes: list[tree_sitter.Node] = []
        while pending:
            nodes.append(node := pending.pop())
            pending.extend(reversed(node.children))
        return tuple(nodes)

    @cached_property
    def strings(self) -> tuple[tree_sitter.Node, ...]:
        """The strings without interpolated values, apart from docstrings."""
        return tuple(
            node
            for node in self.file.nodes
            if node.type == "string"
            and self.start <= node.start_byte < self.function.end
            and not (node.parent is not None and is_docstring(node.parent))
            and not any(child.type == "interpolation" for child in node.named_children)
        )

    def of(self, *types: str) -> Iterator[tree_sitter.Node]:
        """The nodes of some types."""
        return (node for node in self.nodes if node.type in types)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters, without `self` and `cls`."""
        node = self.root.child_by_field_name("parameters")
        names = []
        for parameter in node.named_children if node else ():
            name: tree_sitter.Node | None = parameter.child_by_field_name("name") or parameter
            while name is not None and name.type in _UNPACKED:
                name = next(iter(name.named_children), None)
            if name is not None and name.type == "identifier":
                names.append(text_of(name))
        return tuple(name for name in names if name not in {"self", "cls"})

    @cached_property
    def variables(self) -> dict[str, int]:
        """The names that the function binds, each with the first byte at which it is bound."""
        bindings = dict.fromkeys(self.parameters, self.function.header)
        for node in self.nodes:
            for name in _bound_identifiers(node):
                first = name if node.type == "for_in_clause" else node
                bindings.setdefault(text_of(name), first.start_byte)
        return bindings

    @cached_property
    def loops(self) -> frozenset[str]:
        """The variables that loops bind."""
        loops = self.of("for_statement", "for_in_clause")
        return frozenset(text_of(name) for node in loops for name in _bound_identifiers(node))

    def uses(self) -> Iterator[tree_sitter.Node]:
        """The identifiers that read a variable of the function: not bindings, callees or keywords."""
        return (node for node in self.reads if text_of(node) in self.variables)

    @cached_property
    def bindings(self) -> tuple[tree_sitter.Node, ...]:
        """The identifiers at which variables are bound."""
        return tuple(name for node in self.nodes for name in _bound_identifiers(node))

    @cached_property
    def reads(self) -> tuple[tree_sitter.Node, ...]:
        """The identifiers that read any variable: not bindings, callees or keywords."""
        bound = {name.start_byte for name in self.bindings}
        return tuple(
            node for node in self.of("identifier") if node.start_byte not in bound and _is_read(node)
        )

    def text(self, start: int, end: int) -> str:
        r"""A part of the document, with `\n` as line ends."""
        return self.document.data[start:end].replace(b"\r\n", b"\n").decode("utf-8", "replace")

    def swap(self, first: tree_sitter.Node, second: tree_sitter.Node) -> str:
        """The document from one node to the end of a later one, with the two in each other's place."""
        between = self.text(first.end_byte, second.start_byte)
        later = self.text(second.start_byte, second.end_byte)
        return f"{later}{between}{self.text(first.start_byte, first.end_byte)}"


def is_docstring(node: tree_sitter.Node) -> bool:
    """Whether a statement is only a string."""
    return (
        node.type == "expression_statement"
        and bool(node.named_children)
        and node.named_children[0].type in {"string", "concatenated_string"}
    )


def around(node: tree_sitter.Node, *types: str) -> tree_sitter.Node | None:
    """The innermost node of some types around a node, inside its function."""
    above = node.parent
    while above is not None and above.type not in {"function_definition", "lambda", "class_definition"}:
        if above.type in types:
            return above
        above = above.parent
    return None


def _is_read(node: tree_sitter.Node) -> bool:
    """Whether an identifier that is not bound is a variable, and not a callee or a keyword."""
    parent = node.parent
    if parent is None or parent.type in _NO_READING:
        return False
    field = _field(parent, node)
    return field != "attribute" and (parent.type, field) not in _NO_VARIABLES


def _field(parent: tree_sitter.Node, node: tree_sitter.Node) -> str | None:
    for i, child in enumerate(parent.children):
        if child.start_byte == node.start_byte and child.end_byte == node.end_byte:
            return parent.field_name_for_child(i)
    return None


def _bound_identifiers(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The identifiers that a node binds."""
    field = _BINDS.get(node.type)
    target = node.child_by_field_name(field) if field else None
    if node.type == "as_pattern_target":
        target = next(iter(node.named_children), None)
    pending = [target] if target is not None else []
    while pending:
        pattern = pending.pop()
        if pattern.type == "identifier":
            yield pattern
        elif pattern.type in {"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"}:
            pending.extend(reversed(pattern.named_children))
