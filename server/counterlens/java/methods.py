"""The declaration of a Java method, and the types around it."""

from __future__ import annotations

from tree_sitter import Node

from counterlens.errors import SourceError
from counterlens.java.judging.test_source import package_of
from counterlens.syntax.definitions import own_name
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.syntax.tree import ancestors

TYPES = {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}


def find_body(document: Document, function: Function) -> tuple[Node, list[Node]]:
    """The declaration of a function with a body, and the types around it, from the inside out.

    Raises:
        SourceError: there is none, or its class cannot be named.
    """
    node = find_method(document, function)
    above = list(ancestors(node))
    around = [each for each in above if each.type in TYPES]
    if not around or any(each.type in {"object_creation_expression", "block"} for each in above):
        raise SourceError("its class is declared inside a method")
    if node.child_by_field_name("body") is None:
        raise SourceError("it has no body")
    return node, around


def binary_name(root: Node, around: list[Node]) -> str:
    """The binary name of the innermost of some types that are nested in each other."""
    package, name = package_of(root), "$".join(own_name(each) for each in reversed(around))
    return f"{package}.{name}" if package else name


def find_method(document: Document, function: Function) -> Node:
    """The declaration of a function.

    Raises:
        SourceError: it is a constructor, or is not in the file.
    """
    node: Node | None = document.tree.root_node.descendant_for_byte_range(function.header, function.end - 1)
    while node is not None and node.type not in {"method_declaration", "constructor_declaration"}:
        node = node.parent
    if node is None:
        raise SourceError("it is not a method")
    if node.type == "constructor_declaration":
        raise SourceError("it is a constructor")
    return node


def is_private(document: Document, function: Function) -> bool:
    """Whether other classes cannot call a function as a method: it is private, or a constructor."""
    try:
        return "private" in modifiers(find_method(document, function))
    except SourceError:
        return True


def modifiers(node: Node) -> set[str]:
    """The modifiers of a declaration."""
    modifiers_node = next((child for child in node.children if child.type == "modifiers"), None)
    return {child.type for child in modifiers_node.children} if modifiers_node is not None else set()
