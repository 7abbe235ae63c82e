"""What is left out: documents that are not worth scoring, and surprises that comments hide.

Generated, minified and over-long documents are not scored. Nobody reads such code to learn about a model, and
scoring it takes minutes. A reason is always stated, and a user who names the file can still have it scored.

Comments hide surprises:

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
from counterlens.confidence.scoring import MAX_BYTES
from counterlens.languages.registry import LANGUAGES
from counterlens.syntax.concepts import Category
from counterlens.syntax.document import Document
from counterlens.syntax.statements import is_definition

_DIRECTIVE = re.compile(r"\bcounterlens:\s*ignore(?P<file>-file)?\b(?:\s*\[(?P<categories>[^\]]*)\])?")
_MARKER = b"counterlens:"
_EVERYTHING = frozenset(Category)
_HEAD_LINES = 40
"""Markers are searched in comments and docstrings that begin within this number of lines."""
_MARKERS = re.compile(
    rb"""
    @(?:auto-?)?generated\b
    | \bauto[-\s]?(?:matically\s+)?generated\s+(?:by|from|file|code|using|with|on|at)\b
    | \b(?:code|file|module|class|parser|lexer|stubs?)\s+(?:is\s+|was\s+|has\s+been\s+)?
      (?:automatically\s+|auto-?)?generated\b
    | ^\W*generated\s+(?:by|from|automatically)\b
    | \bgenerated\b [^\n]{0,80} (?:\n\W*)? [^\n]{0,80} \bdo\s+not\s+(?:edit|modify|change)\b
    | \bdo\s+not\s+(?:edit|modify|change)\b [^\n]{0,80} (?:\n\W*)? [^\n]{0,80} \bgenerated\b
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_WORD = b"generated"
"""What all of them contain, in lower case."""
_NAMES = re.compile(
    r"(?:_pb2(?:_grpc)?\.pyi?|[.\-_]min\.[cm]?js|[.\-]bundle\.[cm]?js|\.generated\.\w+|\.g\.\w+)$",
    re.IGNORECASE,
)
"""File names that only generators use."""


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


@dataclass(frozen=True, slots=True)
class ScoringLimits:
    """The limits above which a document is not scored by default.

    Attributes:
        bytes: Maximum size; None for no limit.
        average_line: Maximum average length of a non-blank line, in bytes: hand-written code has 25 to 45.
        longest_line: Maximum length of its longest line of code, in bytes.
        minimum: Size in bytes below which the lines of a document are not checked.
    """

    bytes: int | None = MAX_BYTES
    average_line: int = 160
    longest_line: int = 4_000
    minimum: int = 1_000


def reason_to_skip(document: Document, limits: ScoringLimits | None = None) -> str | None:
    """Why a document is not scored by default, as the end of "it is not scored:"; None if it is scored."""
    limits = limits or ScoringLimits()
    return _why_generated(document) or _why_minified(document, limits) or _long(document, limits)


def _why_generated(document: Document) -> str | None:
    if document.path is not None and _NAMES.search(document.path.name):
        return f"it is generated: its name is {document.path.name}"
    if _WORD not in document.data.lower():  # much sooner seen than a long file is parsed
        return None
    # the comments before the first definition, and the docstring; adjacent ones as one text
    passages: list[tuple[int, int]] = []
    for node in document.tree.root_node.children:
        if node.start_point.row >= _HEAD_LINES or is_definition(node):
            break
        text = node.named_children[0] if node.type == "expression_statement" and node.named_children else node
        if "comment" not in text.type and text.type != "string":
            continue
        if passages and not document.data[passages[-1][1] : node.start_byte].strip():
            passages[-1] = (passages[-1][0], node.end_byte)
        else:
            passages.append((node.start_byte, node.end_byte))
    for start, end in passages:
        match = _MARKERS.search(document.data[start:end])
        if match:
            line = document.positions.line_of(start + match.start()) + 1
            marker = " ".join(match[0].decode("utf-8", "replace").split()).lstrip("#/*;-! ")
            return f"it is generated: line {line} says “{marker}”"
    return None


def _why_minified(document: Document, limits: ScoringLimits) -> str | None:
    if len(document.data) < limits.minimum:
        return None
    lines = [len(line) for line in document.data.splitlines() if line.strip()]
    average = sum(lines) // max(len(lines), 1)
    if average > limits.average_line:
        return f"it is minified or data: its lines have {average:,} bytes on average"
    longest = max(lines, default=0)
    if longest > limits.longest_line:
        return f"it is minified or data: one of its lines has {longest:,} bytes"
    return None


def _long(document: Document, limits: ScoringLimits) -> str | None:
    size = len(document.data)
    if limits.bytes is None or size <= limits.bytes:
        return None
    return f"it has {size:,} bytes; the limit for scoring is {limits.bytes:,}"
