"""The operators of a function that could be others of their family."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.operators import Family, OperatorSite, operator_sites

TEXTS = frozenset(
    {"string", "concatenated_string", "list", "tuple", "dictionary", "set", "list_comprehension"}
)
"""Operands that say that an operator is no arithmetic."""


def operators_in(scope: DoubtScope, *families: Family) -> Iterator[tuple[OperatorSite, tree_sitter.Node]]:
    """The operators of some families in a function, each with its operation."""
    certain = {node.start_byte for node in scope.nodes}
    for site in operator_sites(scope.document, (scope.start, scope.function.end)):
        if site.family in families and site.start in certain:
            node = scope.document.tree.root_node.descendant_for_byte_range(*site.span)
            if node is not None:
                yield site, node
