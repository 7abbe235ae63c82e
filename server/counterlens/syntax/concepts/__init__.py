"""Abstract Syntax Concepts: the category of every node type (Palacio et al. 2023, section III-A and Table I).

The ten categories and their names are the paper's. Its figure 3 gives examples of node types, not a full
assignment, so the tables, one file per language, are Counterlens's own: every named node type has a
category. A node type that only groups others (`module`, `argument_list`) is `STRUCTURE`, which the paper does
not report. Keywords, operators and punctuation have the category of their parent node.

For a language without a table, node types have the category on which the tables agree, because grammars share
many names; its other node types are `UNCATEGORISED`. A language names its table as `concepts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache

from counterlens.languages.part import LanguagePart

FREE_TEXT = frozenset(
    {
        *("string_content", "string_start", "string_end", "escape_sequence", "comment"),
        *("line_comment", "block_comment", "html_comment", "hash_bang_line"),
        *("string_fragment", "multiline_string_fragment", "jsx_text", "regex_pattern"),
        *("interpreted_string_literal_content", "raw_string_literal_content"),
        *("doc_comment", "inner_doc_comment_marker", "outer_doc_comment_marker", "shebang"),
        *("string_literal_content", "raw_string_content", "raw_string_start", "raw_string_end"),
        *("verbatim_string_literal", "shebang_directive"),
    }
)
"""Terminal nodes that contain prose, which surprises every model and shows nothing about code."""
TABLES: LanguagePart[Mapping[Category, str]] = LanguagePart("concepts", Mapping)
"""The node types of each category, by language."""
_AGREEING = 2
"""Minimum number of languages that share a name before it applies to another language."""


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


def category_of(language: str, kind: str) -> Category:
    """The category of a named node type; keywords and punctuation take their parent's category instead."""
    if kind == "ERROR":
        return Category.STRUCTURE
    own = _categories(language)
    return _agreement(kind) if own is None else own.get(kind, Category.UNCATEGORISED)


@cache
def _categories(language: str) -> Mapping[str, Category] | None:
    """The category of each node type; None for a language without a table."""
    table = TABLES.get(language)
    if table is None:
        return None
    return {kind: category for category, kinds in table.items() for kind in kinds.split()}


@cache
def _agreement(kind: str) -> Category:
    """The category of a node type if at least two tables have it and all agree; else UNCATEGORISED."""
    tables = filter(None, map(_categories, TABLES))
    categories = [table[kind] for table in tables if kind in table]
    agreed = len(categories) >= _AGREEING and len(set(categories)) == 1
    return categories[0] if agreed else Category.UNCATEGORISED


def merge(*tables: Mapping[Category, str]) -> dict[Category, str]:
    """One table from several, for grammars that share most of their node types."""
    return {
        category: " ".join(table[category] for table in tables if category in table)
        for category in Category
        if any(category in table for table in tables)
    }
