"""Recognises documents that are not worth scoring, with the reason: generated, minified and over-long ones.

Nobody reads such code to learn about a model, and scoring it takes minutes. A reason is always stated, and a
user who names the file can still have it scored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from counterlens.confidence.scoring import MAX_BYTES
from counterlens.syntax.document import Document
from counterlens.syntax.statements import is_definition

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

_NAMES = re.compile(
    r"(?:_pb2(?:_grpc)?\.pyi?|[.\-_]min\.[cm]?js|[.\-]bundle\.[cm]?js|\.generated\.\w+|\.g\.\w+)$",
    re.IGNORECASE,
)
"""File names that only generators use."""


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
