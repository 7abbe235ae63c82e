"""The operators of a function that could be replaced by others of their family."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.operators import Family, OperatorSite

TEXTS = frozenset(
    {"string", "concatenated_string", "list", "tuple", "dictionary", "set", "list_comprehension"}
)
"""Operands that show that an operator is not arithmetic."""

OPERATIONS = frozenset({"comparison_operator", "binary_operator", "boolean_operator", "augmented_assignment"})
"""Nodes of operations."""


def operators_in(scope: DoubtScope, *families: Family) -> Iterator[tuple[OperatorSite, tree_sitter.Node]]:
    """The operators of some families in a function, each with its operation."""
    operations = {(node.start_byte, node.end_byte): node for node in scope.nodes if node.type in OPERATIONS}
    for site in scope.file.operators:
        node = operations.get(site.span)
        if node is not None and site.family in families:
            yield site, node
