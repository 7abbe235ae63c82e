"""Walk the trees that tree-sitter makes."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter


def descendants(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """A node and all nodes below it, in the order of the source, parents first; never recurses."""
    todo = [node]
    while todo:
        found = todo.pop()
        yield found
        todo += reversed(found.children)
