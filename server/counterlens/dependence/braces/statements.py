"""The statements of a function in a language with braces, numbered in source order.

Rules:

- Statement 0 is the function's header, which defines the parameters; annotations before it do not count for
  its line.
- A compound statement is its header only. The first and the last part of a three-part `for` are separate
  statements, because they run at other times; they follow the header, and have its line.
- `do` is represented by the condition at its end. Blocks, `else`, `finally`, labels and `case` are not
  statements.
- Nested functions and classes are one statement each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tree_sitter import Node

from counterlens.dependence.graph import Statement

_BLOCKS = frozenset({"block", "compound_statement", "constructor_body", "finally_clause", "else_clause"})
_CASES = frozenset({"switch_block", "switch_block_statement_group", "switch_rule", "case_statement"})
_PREPROCESSED = frozenset({"preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif"})
_NOTHING = frozenset(
    {
        *("line_comment", "block_comment", "comment", "switch_label", "ERROR", "attribute_declaration"),
        *("preproc_def", "preproc_call", "preproc_function_def", "preproc_include", "preproc_directive"),
    }
)
_HEADERS = {
    "if_statement": "consequence",
    "while_statement": "body",
    "for_statement": "body",
    "enhanced_for_statement": "body",
    "switch_expression": "body",
    "switch_statement": "body",
    "try_statement": "body",
    "try_with_resources_statement": "body",
    "catch_clause": "body",
    "synchronized_statement": "body",
    "method_declaration": "body",
    "constructor_declaration": "body",
    "compact_constructor_declaration": "body",
    "function_definition": "body",
}
"""Compound statements, with the field that follows their header."""


def flat(node: Node | None) -> list[Node]:
    """The statements of a body; a nested block stays one statement, because it has its own scope."""
    if node is None:
        return []
    if node.type in _BLOCKS:
        return [inner for child in node.named_children for inner in _statement(child)]
    return _statement(node)


def case_body(node: Node) -> list[Node]:
    """The statements of a `case`."""
    value = node.child_by_field_name("value")
    return [inner for child in node.named_children if child != value for inner in _statement(child)]


def statement_after_label(node: Node) -> list[Node]:
    """The statement after a label, if any."""
    return [inner for child in node.named_children[1:] for inner in _statement(child)]


def _statement(node: Node) -> list[Node]:
    if node.type in _NOTHING or (node.type == "expression_statement" and not node.named_child_count):
        return []
    if node.type in _PREPROCESSED:  # both alternatives, because the compiled one is unknown
        held = {child.id for name in ("name", "condition") for child in node.children_by_field_name(name)}
        inside = [child for child in node.named_children if child.id not in held]
        return [inner for child in inside for inner in _statement(child)]
    return [node] if node.is_named else []


class BraceStatements:
    """The numbering of one function's statements.

    Attributes:
        header: The number of the function's header.
        nodes: The syntax node of each statement.
        number: The number of each statement, by the id of its node.
    """

    def __init__(self, function: Node) -> None:
        self.header = 0
        self.nodes: list[Node] = [function]
        stack: list[Node] = list(reversed(flat(function.child_by_field_name("body"))))
        done: set[int] = set()
        while stack:
            node = stack.pop()
            if node.type == "do_statement" and node.id not in done:
                done.add(node.id)
                stack += [node, *reversed(flat(node.child_by_field_name("body")))]
                continue
            inside = _INSIDE.get(node.type)
            if node.type not in _BLOCKS and node.type != "labeled_statement":
                self.nodes.append(node)
            if inside is not None:
                stack += reversed(list(inside(node)))
        self.number = {node.id: number for number, node in enumerate(self.nodes)}

    @property
    def last_line(self) -> int:
        """The last line of the function, from 1."""
        return self.nodes[self.header].end_point.row + 1

    def line(self, number: int) -> int:
        """The first line of a statement, from 1."""
        return header_of(self.nodes[number]).start_point.row + 1

    def listed(self, text: str) -> tuple[Statement, ...]:
        """The statements with their lines and texts."""
        data = text.encode("utf-8", "surrogatepass")
        statements = []
        for number, node in enumerate(self.nodes):
            start = header_of(node)
            field = _HEADERS.get(node.type)
            body = node.child_by_field_name(field) if field else None
            end = node.end_byte if body is None else body.start_byte
            inside = data[start.start_byte : end].rstrip()
            line = start.start_point.row + 1
            shown = inside.decode("utf-8", "replace").replace("\r\n", "\n")
            statements.append(Statement(number, line, line + inside.count(b"\n"), shown))
        return tuple(statements)


def header_of(node: Node) -> Node:
    """The node with which a statement's text begins."""
    if node.type == "do_statement":
        return next((child for child in node.children if child.type == "while"), node)
    for child in node.children:
        if child.type == "modifiers":
            plain = [modifier for modifier in child.children if not modifier.type.endswith("annotation")]
            plain = [modifier for modifier in plain if "comment" not in modifier.type]
            if plain:
                return plain[0]
        elif not (child.is_error or child.type.endswith("comment")):
            return child if node.type in _HEADERS else node
    return node


def _if(node: Node) -> Iterator[Node]:
    yield from flat(node.child_by_field_name("consequence"))
    yield from flat(node.child_by_field_name("alternative"))


def _body(node: Node) -> Iterator[Node]:
    yield from flat(node.child_by_field_name("body"))


def for_parts(node: Node) -> tuple[list[Node], Node | None, list[Node]]:
    """The three parts of a `for`: initialisation, condition, update."""
    first = [*node.children_by_field_name("init"), *node.children_by_field_name("initializer")]
    conditions = [child for child in node.children_by_field_name("condition") if child.is_named]
    return (
        [child for child in first if child.is_named],
        conditions[0] if conditions else None,
        [child for child in node.children_by_field_name("update") if child.is_named],
    )


def _for(node: Node) -> Iterator[Node]:
    first, _, again = for_parts(node)
    yield from first
    yield from again
    yield from _body(node)


def _switch(node: Node) -> Iterator[Node]:
    body = node.child_by_field_name("body")
    for child in body.named_children if body is not None else ():
        yield from case_body(child) if child.type in _CASES else _statement(child)


def _try(node: Node) -> Iterator[Node]:
    yield from _body(node)
    for child in node.named_children:
        if child.type == "catch_clause":
            yield child
        elif child.type == "finally_clause":
            yield from flat(child)


_INSIDE: dict[str, Callable[[Node], Iterator[Node]]] = {
    **dict.fromkeys(_BLOCKS, lambda node: iter(flat(node))),
    "labeled_statement": lambda node: iter(statement_after_label(node)),
    "if_statement": _if,
    "while_statement": _body,
    "for_statement": _for,
    "enhanced_for_statement": _body,
    "switch_expression": _switch,
    "switch_statement": _switch,
    "try_statement": _try,
    "try_with_resources_statement": _try,
    "catch_clause": _body,
    "synchronized_statement": _body,
}
