"""The methods and constructors in a syntax tree of Java."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from counterlens.syntax.definitions import FunctionDefinition, named_definitions, text_of

_TYPES = frozenset(
    {
        *("class_declaration", "interface_declaration", "enum_declaration", "record_declaration"),
        "annotation_type_declaration",
    }
)
_METHODS = frozenset({"method_declaration", "constructor_declaration", "compact_constructor_declaration"})


def java_definitions(root: Node) -> Iterator[FunctionDefinition]:
    """The methods and constructors with a body; one of a class inside a method is nested in that method."""
    for path, node in named_definitions(root, _TYPES | _METHODS):
        if node.type in _METHODS:
            listed = node.child_by_field_name("parameters")
            type_names = []
            for parameter in listed.named_children if listed is not None else ():
                if parameter.type == "formal_parameter":
                    dimensions = text_of(parameter.child_by_field_name("dimensions"))
                    type_names.append(text_of(parameter.child_by_field_name("type")) + dimensions)
                elif parameter.type == "spread_parameter":
                    type_names.append(text_of(parameter).rpartition("...")[0].strip() + "...")
            yield FunctionDefinition(path, ", ".join(type_names), node)
