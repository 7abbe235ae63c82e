"""A file's top-level statements, treated as a function named `<module>`."""

from __future__ import annotations

from counterlens.dependence.languages import analysable_functions
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, whole_program

_DECIDING = frozenset(
    {"if_statement", "for_statement", "while_statement", "try_statement", "match_statement"}
)


def scopes(document: Document) -> list[Function]:
    """The functions of a document, followed by its top-level statements."""
    return [*analysable_functions(document), whole_program(document)]


def scope_at(document: Document, offset: int) -> Function:
    """The innermost function around a byte offset, or the module."""
    around = [
        function for function in analysable_functions(document) if function.start <= offset <= function.end
    ]
    return around[-1] if around else whole_program(document)


def first_decision(document: Document) -> int | None:
    """The offset of the first branch or loop at the top level; None if there is none."""
    offsets = (node.start_byte for node in document.tree.root_node.children if node.type in _DECIDING)
    return next(offsets, None)
