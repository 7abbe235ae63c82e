"""Java, as it is analysed."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from counterlens.dependence.braces.blocks import text_of
from counterlens.dependence.braces.program import BraceFunction, BraceLanguage
from counterlens.dependence.java.expressions import SYNTAX
from counterlens.dependence.java.lowering import JavaLayout

_CLASSES = frozenset(
    {
        *("class_declaration", "interface_declaration", "enum_declaration", "record_declaration"),
        "annotation_type_declaration",
    }
)
_METHODS = frozenset({"method_declaration", "constructor_declaration", "compact_constructor_declaration"})


def functions(root: Node) -> Iterator[BraceFunction]:
    """The methods and constructors that have a body; one of a class inside a method stands in that method."""
    stack: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    while stack:
        node, path = stack.pop()
        if node.type in _CLASSES or node.type in _METHODS:
            path = (*path, text_of(node.child_by_field_name("name")))
            if node.type in _METHODS and node.child_by_field_name("body") is not None:
                yield BraceFunction(path, _types(node), node)
        stack += [(child, path) for child in reversed(node.named_children)]


def _types(method: Node) -> str:
    listed = method.child_by_field_name("parameters")
    found = []
    for parameter in listed.named_children if listed is not None else ():
        if parameter.type == "formal_parameter":
            dimensions = text_of(parameter.child_by_field_name("dimensions"))
            found.append(text_of(parameter.child_by_field_name("type")) + dimensions)
        elif parameter.type == "spread_parameter":
            found.append(text_of(parameter).rpartition("...")[0].strip() + "...")
    return ", ".join(found)


JAVA = BraceLanguage("java", "Java", functions, JavaLayout, SYNTAX)
