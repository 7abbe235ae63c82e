"""Comments that hide surprises.

    total = qux * 2  # counterlens: ignore[operators]      this line, this concept category
    total = qux * 2  # counterlens: ignore                 this line, whatever the category
    # counterlens: ignore[types, scope]                    alone on its line: the next line
    # counterlens: ignore-file[natural language]           the whole file

Only comments count, not strings that look like one. Unknown categories have no effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from counterlens.confidence.alignment import nodes
from counterlens.languages.registry import LANGUAGES
from counterlens.syntax.concepts import Category
from counterlens.syntax.document import Document

_DIRECTIVE = re.compile(r"\bcounterlens:\s*ignore(?P<file>-file)?\b(?:\s*\[(?P<categories>[^\]]*)\])?")
_MARKER = b"counterlens:"
_EVERYTHING = frozenset(Category)


@dataclass(frozen=True, slots=True)
class Ignored:
    """The ignore comments of a document.

    Attributes:
        everywhere: Categories that are hidden in the whole file.
        lines: Categories that are hidden on a line (0-based).
    """

    document: Document
    everywhere: frozenset[Category]
    lines: dict[int, frozenset[Category]]

    def covers(self, start: int, end: int, category: Category) -> bool:
        """Whether a place is hidden: the whole file, or any line of the place, ignores the category."""
        positions = self.document.positions
        touched = range(positions.line_of(start), positions.line_of(max(start, end - 1)) + 1)
        return category in self.everywhere or any(category in self.lines.get(line, ()) for line in touched)


def ignore_comments(document: Document) -> Ignored:
    """Read the comments of a document."""
    everywhere: frozenset[Category] = frozenset()
    lines: dict[int, frozenset[Category]] = {}
    for text, start, end in _comments(document):
        for match in _DIRECTIVE.finditer(text):
            categories = _categories(match["categories"])
            if match["file"]:
                everywhere |= categories
                continue
            line = document.positions.line_of(start)
            if not document.data[document.positions.line_start(line) : start].strip():
                line = document.positions.line_of(max(start, end - 1)) + 1  # alone: for the next line
            lines[line] = lines.get(line, frozenset()) | categories
    return Ignored(document, everywhere, lines)


def directive(language: str, category: Category | None, *, whole_file: bool = False) -> str:
    """The comment that ignores a category, or all of them, without surrounding blanks."""
    scope = "ignore-file" if whole_file else "ignore"
    return f"{LANGUAGES[language].comment} counterlens: {scope}" + (f"[{category}]" if category else "")


def _comments(document: Document) -> Iterator[tuple[str, int, int]]:
    if _MARKER not in document.data:
        return
    for node in nodes(document.tree):
        if node.type.endswith("comment") and node.type != "doc_comment":  # which is a part of a comment
            text = document.data[node.start_byte : node.end_byte].decode("utf-8", "replace")
            yield text, node.start_byte, node.end_byte


def _categories(names: str | None) -> frozenset[Category]:
    if names is None:
        return _EVERYTHING
    wanted = {" ".join(name.split()).casefold() for name in names.split(",")}
    return frozenset(category for category in Category if category in wanted)
