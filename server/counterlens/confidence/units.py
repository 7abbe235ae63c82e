"""The units that a document is scored in: its top-level definitions, and what stands between them.

Each unit is scored after the header of the document (what stands before its first definition, up to a
limit) and nothing else. So an edit makes only its own unit stale, and a function's scores do not move when
code elsewhere in the file changes. The price: a function is scored without the functions before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter

from counterlens.syntax.document import Document

HEADER_BYTES = 2048
"""How much of the header the model is shown before each unit."""

_DEFINITIONS = ("_definition", "_declaration")


@dataclass(frozen=True, slots=True)
class Unit:
    """A byte range of a document that is scored by itself. Units tile the document.

    Attributes:
        start: Its first byte: the line break after the unit before it.
        end: The byte after its last.
        context: The byte after the header that it is scored after; 0 for the unit that begins the document.
    """

    start: int
    end: int
    context: int


def units(document: Document, header_bytes: int = HEADER_BYTES) -> list[Unit]:
    """The units of a document, in the order of the text; none for one of nothing but blanks."""
    data = document.data
    if not data.strip():
        return []
    ends = list(_ends(document.tree.root_node.children))
    if not ends or data[ends[-1] :].strip():
        ends.append(len(data))
    ends[-1] = len(data)
    context = _context(document, header_bytes)
    starts = [0, *ends[:-1]]
    return [
        Unit(start, end, 0 if start == 0 else min(context, start))
        for start, end in zip(starts, ends, strict=True)
        if end > start
    ]


def _ends(nodes: list[tree_sitter.Node]) -> Iterator[int]:
    """Where units end. Comments right above a definition belong to it."""
    pending: tree_sitter.Node | None = None  # the last node since the last end that no definition has claimed
    for node, following in zip(nodes, [*nodes[1:], None], strict=True):
        if node.type.endswith(_DEFINITIONS):
            if pending is not None:
                yield pending.end_byte
            yield node.end_byte
            pending = None
        elif not (node.type == "comment" and following is not None and _touches(node, following)):
            pending = node
    if pending is not None:
        yield pending.end_byte


def _touches(node: tree_sitter.Node, following: tree_sitter.Node) -> bool:
    kind = following.type
    below = following.start_point.row == node.end_point.row + 1
    return below and (kind == "comment" or kind.endswith(_DEFINITIONS))


def _context(document: Document, limit: int) -> int:
    """Where the header ends: before the first definition, at the end of a line, within the limit."""
    data = document.data
    header = len(data)
    for node in document.tree.root_node.children:
        if node.type.endswith(_DEFINITIONS):
            header = node.start_byte
            break
    if header > limit:
        header = max(data.rfind(b"\n", 0, limit), 0)
    return len(data[:header].rstrip())
