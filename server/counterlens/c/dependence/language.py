"""The dependence analysis of C."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from counterlens.c.dependence.expressions import SYNTAX, declared_identifier
from counterlens.c.dependence.lowering import CLayout
from counterlens.dependence.braces.program import BraceLanguage
from counterlens.syntax.definitions import FunctionDefinition, text_of


def functions(root: Node) -> Iterator[FunctionDefinition]:
    """The functions that are defined in a file."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "function_definition":
            name = declared_identifier(node.child_by_field_name("declarator"))
            if name is not None:
                yield FunctionDefinition((text_of(name),), None, node)
            continue
        stack += reversed(node.named_children)


C = BraceLanguage("c", functions, CLayout, SYNTAX, tolerant=True).analysed
