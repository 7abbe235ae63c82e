"""Traversal of tree-sitter trees."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter


def descendants(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """A node and all its descendants, in source order, parents first, without recursion."""
    todo = [node]
    while todo:
        descendant = todo.pop()
        yield descendant
        todo += reversed(descendant.children)
