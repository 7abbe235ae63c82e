"""The position of a comment that ignores a surprise: at a place, or in the whole file."""

from __future__ import annotations

import re

from counterlens.confidence.ignoring import directive, ignored
from counterlens.syntax.concepts import Category
from counterlens.syntax.document import Document

_HEAD = re.compile(rb"#!|[ \t]*#.*?coding[:=]")


def ignoring_edit(
    document: Document, start: int, end: int, category: Category | None
) -> tuple[int, str] | None:
    """The position and text of a comment that ignores a place: a byte offset and a text.

    Without a category it ignores all. It goes to the end of the line of the place, or above that line if it
    would not be a comment there; None if it would not be one in either position.
    """
    data, positions = document.data, document.positions
    comment = directive(document.language, category)
    line = positions.line_of(start)
    begin = positions.line_start(line)
    stop = positions.line_start(line + 1) if line + 1 < positions.lines else len(data)
    content = data[begin:stop].rstrip(b"\r\n")
    indentation = content[: len(content) - len(content.lstrip())].decode("utf-8", "replace")
    choices = [
        (begin + len(content.rstrip()), f"  {comment}", 0),
        (begin, f"{indentation}{comment}{_newline(document)}", 1),
    ]
    broken = document.tree.root_node.has_error
    meant = [category] if category else list(Category)
    for offset, text, above in choices:
        size = len(text.encode()) if above else 0
        changed = (data[:offset] + text.encode() + data[offset:]).decode("utf-8", "surrogatepass")
        edited = Document(changed, document.path, document.language)
        if edited.tree.root_node.has_error and not broken:
            continue
        if all(ignored(edited).covers(start + size, end + size, one) for one in meant):
            return offset, text
    return None


def below_head(document: Document) -> int:
    """The offset after the lines that must be first in a file: interpreter and encoding."""
    line = 0
    while line < 2 and _HEAD.match(document.data, document.positions.line_start(line)):
        line += 1
    return document.positions.line_start(line)


def ignoring_file(document: Document, category: Category) -> tuple[int, str]:
    """The position (a byte offset) and text of a comment that ignores a category in the whole file."""
    comment = directive(document.language, category, whole_file=True)
    return below_head(document), f"{comment}{_newline(document)}"


def _newline(document: Document) -> str:
    return "\r\n" if b"\r\n" in document.data else "\n"
