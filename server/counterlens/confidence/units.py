"""The units in which a document is scored: its top-level definitions, and the code between them.

Each unit is scored after the header of the document (the code before its first definition, up to a limit) and
nothing else. So an edit invalidates only its own unit, and a function's scores do not change with code
elsewhere in the file. The cost is that a function is scored without the functions before it.

Wrappers of definitions (a namespace, the guard of a header file) are divided into their contents. If all code
is in types, as in Java, the definitions are the members of the top-level types, and the header is the code
before the first of them: imports, the type's own header, its fields. The whole document is one unit if a
grammar has no definition nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

import tree_sitter

from counterlens.languages.registry import LANGUAGES
from counterlens.syntax.document import Document
from counterlens.syntax.statements import is_definition

HEADER_BYTES = 2048
"""Maximum length of the header before each unit, in bytes."""

_WRAPPING = frozenset(
    {
        *("linkage_specification", "mod_item", "namespace_declaration", "namespace_definition"),
        *("preproc_elif", "preproc_elifdef", "preproc_else", "preproc_if", "preproc_ifdef"),
    }
)
"""Nodes that only wrap definitions: namespaces, modules, conditional compilation."""

_ENDING = frozenset({"}", ";", "#endif"})
"""Node types that belong to the definition before them."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A byte range of a document that is scored separately. Units tile the document.

    Attributes:
        start: First byte of the unit: the line break after the unit before it.
        end: The byte after the unit.
        context: The byte after its header; 0 for the unit that begins the document.
    """

    start: int
    end: int
    context: int


def units(document: Document, header_bytes: int = HEADER_BYTES) -> list[Unit]:
    """The units of a document, in the order of the text; none for a blank document."""
    data = document.data
    if not data.strip():
        return []
    pieces = _pieces(document)
    ends = _ends(pieces)
    if not ends or data[ends[-1] :].strip():
        ends.append(len(data))
    ends[-1] = len(data)
    context = _context(data, pieces, header_bytes)
    starts = [0, *ends[:-1]]
    return [
        Unit(start, end, 0 if start == 0 else min(context, start))
        for start, end in zip(starts, ends, strict=True)
        if end > start
    ]


class _Kind(Enum):
    """The role of a piece in the division into units."""

    DEFINITION = auto()
    COMMENT = auto()
    CLOSING = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class _Piece:
    """A node between whose neighbours a unit may end; rows are 0-based."""

    kind: _Kind
    start: int
    end: int
    first_row: int
    last_row: int

    @classmethod
    def of(cls, node: tree_sitter.Node) -> _Piece:
        if node.type.endswith("comment") or node.type == "attribute_item":  # belongs to the node below it
            kind = _Kind.COMMENT
        elif node.type in _ENDING:
            kind = _Kind.CLOSING
        else:
            kind = _Kind.DEFINITION if is_definition(node) else _Kind.OTHER
        return cls(kind, node.start_byte, node.end_byte, node.start_point.row, node.end_point.row)

    @classmethod
    def header(cls, node: tree_sitter.Node, brace: tree_sitter.Node) -> _Piece:
        """The text before the members of a node: it ends with the opening brace."""
        return cls(_Kind.OTHER, node.start_byte, brace.end_byte, node.start_point.row, brace.end_point.row)


def _pieces(document: Document) -> list[_Piece]:
    """The top-level pieces of a document; wrappers, and types if all code is in them, are opened."""
    language = LANGUAGES.get(document.language)
    all_in_types = language is not None and language.all_in_types
    pieces: list[_Piece] = []
    todo = document.tree.root_node.children[::-1]
    while todo:
        node = todo.pop()
        members = _members(node)
        if members is None:
            pieces += _pieces_of_type(node) if all_in_types else [_Piece.of(node)]
            continue
        if members and members[0].type == "{":
            pieces.append(_Piece.header(node, members.pop(0)))
        todo += reversed(members)
    return pieces


def _members(node: tree_sitter.Node) -> list[tree_sitter.Node] | None:
    """The nodes inside a wrapper; None if a node is not a wrapper, or contains no definition."""
    if node.type not in _WRAPPING:
        return None
    members = (node.child_by_field_name("body") or node).children
    wraps = any(member.type in _WRAPPING or is_definition(member) for member in members)
    return members if wraps else None


def _pieces_of_type(node: tree_sitter.Node) -> Iterator[_Piece]:
    """A type as the pieces of its header and the members of its body; any other node as one piece."""
    body = node.child_by_field_name("body")
    if body is None or not body.children or not is_definition(node):
        yield _Piece.of(node)
        return
    yield _Piece.header(node, body.children[0])
    for member in body.children[1:]:
        if member.type == "enum_body_declarations":
            yield from (_Piece.of(inner) for inner in member.children)
        else:
            yield _Piece.of(member)


def _ends(pieces: list[_Piece]) -> list[int]:
    """The ends of units. Comments directly above a definition belong to it, as do closing tokens after it."""
    ends: list[int] = []
    pending: _Piece | None = None  # the last piece since the last end that belongs to no definition
    for piece, following in zip(pieces, [*pieces[1:], None], strict=True):
        if piece.kind is _Kind.DEFINITION:
            if pending is not None:
                ends.append(pending.end)
            ends.append(piece.end)
            pending = None
        elif piece.kind is _Kind.CLOSING and pending is None and ends:
            ends[-1] = piece.end
        elif piece.kind is not _Kind.COMMENT or following is None or not _touches(piece, following):
            pending = piece
    if pending is not None:
        ends.append(pending.end)
    return ends


def _touches(piece: _Piece, following: _Piece) -> bool:
    below = following.first_row == piece.last_row + 1
    return below and following.kind in {_Kind.COMMENT, _Kind.DEFINITION}


def _context(data: bytes, pieces: list[_Piece], limit: int) -> int:
    """The end of the header: before the first definition, at the end of a line, within the limit."""
    header = next((piece.start for piece in pieces if piece.kind is _Kind.DEFINITION), len(data))
    if header > limit:
        header = max(data.rfind(b"\n", 0, limit), 0)
    return len(data[:header].rstrip())
