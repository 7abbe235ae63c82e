"""The definitions of functions in a syntax tree.

A function has one name everywhere: its path from the file. The types of the parameters follow if several
functions have the same path (overloaded methods), as in `Class.method(int, String)`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from counterlens.languages.part import LanguagePart

FINDERS: LanguagePart[Callable[[Node], Iterator[FunctionDefinition]]] = LanguagePart("functions")
"""Finders of the functions in a tree, by language."""


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    """A function definition.

    Attributes:
        path: The names of the definitions around it, and its own.
        parameters: The types of its parameters, in languages where functions may be overloaded; else None.
        node: Its syntax node.
    """

    path: tuple[str, ...]
    parameters: str | None
    node: Node

    @property
    def start(self) -> Node:
        """The node with which its text begins: for decorated functions, the one with the decorators."""
        parent = self.node.parent
        decorated = parent is not None and parent.type == "decorated_definition"
        return parent if decorated and parent is not None else self.node

    @property
    def header(self) -> int:
        """The offset of the first byte after its decorators or annotations."""
        for child in self.node.children:
            for part in child.children if child.type == "modifiers" else (child,):
                if not part.type.endswith(("annotation", "comment")):
                    return part.start_byte
        return self.node.start_byte

    @property
    def body(self) -> int:
        """The offset of the first byte of its first statement, or of its body if that is empty."""
        body = self.node.child_by_field_name("body")
        if body is None:
            return self.node.end_byte
        return body.named_children[0].start_byte if body.named_children else body.start_byte


def definitions(root: Node, language: str) -> list[tuple[str, FunctionDefinition]]:
    """The functions of a tree with their qualified names; none in languages without a finder."""
    finder = FINDERS.get(language)
    return [*with_names(finder(root))] if finder is not None else []


def with_names(definitions: Iterable[FunctionDefinition]) -> Iterator[tuple[str, FunctionDefinition]]:
    """Definitions with their qualified names."""
    every = list(definitions)
    count = Counter(entry.path for entry in every)
    for definition in every:
        name = ".".join(definition.path)
        several = definition.parameters is not None and count[definition.path] > 1
        yield (f"{name}({definition.parameters})" if several else name), definition


def named_definitions(root: Node, kinds: set[str] | frozenset[str]) -> Iterator[tuple[tuple[str, ...], Node]]:
    """The definitions of some node types that have a name and a body, with their paths."""
    todo: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    while todo:
        node, path = todo.pop()
        if node.type in kinds and (name := node.child_by_field_name("name")) is not None:
            path = (*path, text_of(name))
            if node.child_by_field_name("body") is not None:
                yield path, node
        todo.extend((child, path) for child in reversed(node.children))


def text_of(node: Node | None) -> str:
    """The source of a node; empty for None."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def own_name(node: Node) -> str:
    """The source of the part of a node that is its name; empty if it has none."""
    return text_of(node.child_by_field_name("name"))
