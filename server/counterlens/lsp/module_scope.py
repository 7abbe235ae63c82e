"""A file's own statements as if they were a function, named `<module>`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from counterlens.dependence import MODULE
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.targets import function_named, open_python, plain, position
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, function_at, functions

_DECIDING = frozenset(
    {"if_statement", "for_statement", "while_statement", "try_statement", "match_statement"}
)


def module_of(document: Document) -> Function:
    """The whole text."""
    data = document.data
    lines = data.count(b"\n") + 1
    return Function(MODULE, MODULE, 0, len(data), 0, 0, 1, lines, 0)


def scopes(document: Document) -> list[Function]:
    """The functions of a document, and its own statements."""
    return [*functions(document), module_of(document)]


def scope_at(document: Document, offset: int) -> Function:
    """The innermost function around a byte, or the module."""
    return function_at(document, offset) or module_of(document)


def scope_named(ls: CounterlensServer, argument: Any) -> tuple[Analysis, Function]:
    """The document and the function that `{uri, function? | position?}` means; outside of all, the module.

    Raises:
        CounterlensError: the document is not open, or there is no such function.
    """
    asked: Mapping[str, Any] = plain(argument)
    if asked.get("function") == MODULE:
        analysis = open_python(ls, argument)
        return analysis, module_of(analysis.document)
    if not asked.get("function") and asked.get("position") is not None:
        analysis = open_python(ls, argument)
        offset = ls.places(analysis).offset(position(asked["position"]))
        return analysis, scope_at(analysis.document, offset)
    return function_named(ls, argument)


def first_decision(document: Document) -> int | None:
    """Where the first branch or loop of the module itself stands, as a byte; None for none."""
    found = (node.start_byte for node in document.tree.root_node.children if node.type in _DECIDING)
    return next(found, None)
