"""The ten concept categories of Palacio et al. 2023 (section III-A, Table I), and two for other nodes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Category(StrEnum):
    """A concept category of Palacio et al. 2023."""

    DATA_STRUCTURES = "data structures"
    DECISION = "decision"
    EXCEPTIONS = "exceptions"
    FUNCTIONAL = "functional programming"
    ITERATION = "iteration"
    NATURAL_LANGUAGE = "natural language"
    OPERATORS = "operators"
    SCOPE = "scope"
    TESTING = "testing"
    TYPES = "types"
    STRUCTURE = "structure"
    """Nodes that only group other nodes; the paper does not report them."""
    UNCATEGORISED = "uncategorised"
    """Node types without a category: their grammar has no table, or is newer than its table."""


NO_CONCEPTS = frozenset({Category.STRUCTURE, Category.UNCATEGORISED})
"""The categories that are not in the paper, and are excluded from means over all concepts."""


def merge(*tables: Mapping[Category, str]) -> dict[Category, str]:
    """One table from several, for grammars that share most of their node types."""
    return {
        category: " ".join(table[category] for table in tables if category in table)
        for category in Category
        if any(category in table for table in tables)
    }
