"""Abstract Syntax Concepts: the category of every node type (Palacio et al. 2023, section III-A and Table I).

The ten categories and their names are the paper's. Its figure 3 gives examples of node types, not a full
assignment, so the tables, one file a language, are ours: every named node type of the grammar has a
category. What only holds other nodes together (`module`, `argument_list`) is `STRUCTURE`, which the paper
does not report. Keywords, operators and punctuation take the category of the node that they belong to.

A language without a table of its own has the categories that the tables agree about: grammars share many
names. To give it one, add a file here and a line to `TABLES`.
"""

from __future__ import annotations

from functools import cache

from counterlens.syntax.concepts.categories import Category
from counterlens.syntax.concepts.java import JAVA
from counterlens.syntax.concepts.javascript import JAVASCRIPT
from counterlens.syntax.concepts.python import PYTHON

__all__ = ["FREE_TEXT", "TABLES", "Category", "category_of"]

FREE_TEXT = frozenset(
    {
        *("string_content", "string_start", "string_end", "escape_sequence", "comment"),
        *("line_comment", "block_comment", "html_comment", "hash_bang_line"),
        *("string_fragment", "multiline_string_fragment", "jsx_text", "regex_pattern"),
    }
)
"""Terminal nodes that hold prose: it surprises every model, and says nothing about code."""

TABLES: dict[str, dict[Category, str]] = {"python": PYTHON, "java": JAVA, "javascript": JAVASCRIPT}

_CATEGORIES: dict[str, dict[str, Category]] = {
    language: {kind: category for category, kinds in table.items() for kind in kinds.split()}
    for language, table in TABLES.items()
}


def category_of(language: str, kind: str) -> Category | None:
    """The category of a node type, or None where it takes that of its parent."""
    if kind == "ERROR":
        return Category.STRUCTURE
    own = _CATEGORIES.get(language)
    return _agreed(kind) if own is None else own.get(kind)


@cache
def _agreed(kind: str) -> Category | None:
    """The category that all tables that know a node type give it."""
    found = {table[kind] for table in _CATEGORIES.values() if kind in table}
    return found.pop() if len(found) == 1 else None
