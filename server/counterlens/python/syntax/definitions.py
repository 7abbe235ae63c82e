"""The functions in a syntax tree of Python."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from counterlens.syntax.definitions import FunctionDefinition, named_definitions


def python_definitions(root: Node) -> Iterator[FunctionDefinition]:
    """The functions and methods of Python, outer ones first, in source order."""
    for path, node in named_definitions(root, {"class_definition", "function_definition"}):
        if node.type == "function_definition":
            yield FunctionDefinition(path, None, node)
