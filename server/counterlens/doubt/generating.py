"""The alternatives in a function, and the check that one parses and keeps the statement's type."""

from __future__ import annotations

import tree_sitter

from counterlens.doubt.alternative import Alternative
from counterlens.doubt.registry import DOUBT_KINDS
from counterlens.doubt.scope import DoubtFile, DoubtScope
from counterlens.syntax.document import STRICT, Document
from counterlens.syntax.functions import functions

_RESHAPING = frozenset({"exits", "return", "default"})
"""Kinds that insert or move statements."""


def scopes(document: Document) -> list[DoubtScope]:
    """The outermost functions of a document; none if it is not Python."""
    all_functions = functions(document)
    file = DoubtFile(document)
    return [
        DoubtScope(file, function)
        for function in all_functions
        if not any(other.holds(function) for other in all_functions)
    ]


def alternatives_in(scope: DoubtScope) -> list[Alternative]:
    """The alternatives in a function, in the order of the text; each text at a place only once."""
    alternatives: dict[tuple[int, int, str], Alternative] = {}
    for kind in DOUBT_KINDS.values():
        for alternative in kind.alternatives(scope):
            if alternative.text != scope.text(alternative.start, alternative.end):
                alternatives.setdefault((alternative.start, alternative.end, alternative.text), alternative)
    return sorted(alternatives.values(), key=lambda candidate: (candidate.start, candidate.end))


def text_for(document: Document, alternative: Alternative) -> str:
    """The text of an alternative, with the line ends of the document."""
    return alternative.text.replace("\n", "\r\n") if b"\r\n" in document.data else alternative.text


def changed_text(document: Document, alternative: Alternative) -> str:
    """The whole document with an alternative."""
    text = text_for(document, alternative)
    data = document.data[: alternative.start] + text.encode() + document.data[alternative.end :]
    return data.decode("utf-8", "surrogatepass")


def fits(scope: DoubtScope, alternative: Alternative) -> bool:
    """Whether the function parses with an alternative, and its statement keeps its type."""
    document, function = scope.document, scope.function
    grown = len(alternative.text.encode()) - (alternative.end - alternative.start)
    line = document.data.rfind(b"\n", 0, function.header) + 1
    data = document.data[line : alternative.start] + alternative.text.encode()
    data += document.data[alternative.end : function.end]
    try:
        STRICT.require(document.language)(b"if 1:\n" + data if data[:1].isspace() else data)
    except (SyntaxError, ValueError, RecursionError):
        return False
    if alternative.kind in _RESHAPING:
        return True
    changed = Document(data.decode("utf-8", "replace"))
    before = _statement(document.tree.root_node, alternative.start, alternative.end)
    after = _statement(
        changed.tree.root_node,
        alternative.start - line,
        max(alternative.end + grown, alternative.start) - line,
    )
    return before == after


def _statement(root: tree_sitter.Node, start: int, end: int) -> str | None:
    """The type of the statement around a range."""
    node = root.descendant_for_byte_range(start, end)
    while node is not None and node.parent is not None and node.parent.type not in {"block", "module"}:
        node = node.parent
    return node.type if node is not None else None
