"""The methods and constructors of a Java file as functions."""

from __future__ import annotations

from tree_sitter import Node

from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

_METHODS = {"method_declaration", "constructor_declaration"}
_TYPES = {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}


def methods(document: Document) -> list[Function]:
    """The methods and constructors that have a body; with parameter types where several have one name."""
    found: list[tuple[str, Node, Node]] = []
    todo: list[tuple[Node, str]] = [(document.tree.root_node, "")]
    while todo:
        node, path = todo.pop()
        name = node.child_by_field_name("name")
        if name is not None and node.type in _METHODS | _TYPES:
            path += f"{'.' if path else ''}{_text(name)}"
            body = node.child_by_field_name("body")
            if node.type in _METHODS and body is not None:
                found.append((path, node, body))
        todo += [(child, path) for child in reversed(node.named_children)]
    paths = [path for path, _, _ in found]
    return [_function(path, node, body, several=paths.count(path) > 1) for path, node, body in found]


def _function(path: str, node: Node, body: Node, *, several: bool) -> Function:
    own = path.rpartition(".")[2]
    listed = node.child_by_field_name("parameters")
    types = (
        [_type(child) for child in listed.named_children if child.type.endswith("_parameter")]
        if listed
        else []
    )
    return Function(
        own,
        f"{path}({', '.join(types)})" if several else path,
        node.start_byte,
        node.end_byte,
        node.start_byte,
        body.start_byte,
        node.start_point.row + 1,
        node.end_point.row + 1,
        node.start_point.column,
    )


def _type(parameter: Node) -> str:
    if parameter.type == "spread_parameter":
        return _text(parameter).rpartition("...")[0].strip() + "..."
    written, after = parameter.child_by_field_name("type"), parameter.child_by_field_name("dimensions")
    return "".join(_text(part) for part in (written, after) if part is not None)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
