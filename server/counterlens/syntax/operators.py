"""Binary operators in a tree, and the candidates that could replace each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import tree_sitter

from counterlens.languages.part import LanguagePart
from counterlens.syntax.document import Document

OPERATORS: LanguagePart[Kinds] = LanguagePart("operators", Mapping, "the operators of {0} are unknown")
"""The operators of each language."""


class Family(StrEnum):
    """Operators that can replace each other."""

    COMPARISON = "comparison"
    IDENTITY = "identity"
    MEMBERSHIP = "membership"
    ARITHMETIC = "arithmetic"
    BITWISE = "bitwise"
    BOOLEAN = "boolean"
    AUGMENTED = "augmented"


@dataclass(frozen=True, slots=True)
class OperatorSite:
    """One operator in a document. Offsets are bytes.

    Attributes:
        start: Its first byte.
        end: The byte after its last.
        operator: The operator as written, `not in` with one blank.
        candidates: The operators that could be there, itself included.
        line: Its line, 1-based.
        span: The byte range of the operation: its operands and the operator.
        text: The operation, on one line.
    """

    start: int
    end: int
    operator: str
    family: Family
    candidates: tuple[str, ...]
    line: int
    span: tuple[int, int]
    text: str


Kinds = Mapping[str, tuple[tuple[Family, str], ...]]
"""Operators by node type and family, separated by blanks; `|` joins the two words of an operator."""
OperatorTable = Mapping[tuple[str, str], tuple[Family, tuple[str, ...]]]

COMPARISON = (Family.COMPARISON, "== != < > <= >=")
"""The comparisons of Ahmed et al. 2024, section 4.1; each language defines the other families."""


@cache
def operator_table(language: str) -> OperatorTable:
    """Family and candidates by (parent node type, operator).

    Raises:
        SourceError: the operators of the language are unknown.
    """
    kinds = OPERATORS.require(language)
    table: dict[tuple[str, str], tuple[Family, tuple[str, ...]]] = {}
    for kind, families in kinds.items():
        for family, written in families:
            candidates = tuple(written.split("|") if "is" in written or "in" in written else written.split())
            table.update({(kind, operator): (family, candidates) for operator in candidates})
    return table


def operator_sites(document: Document, span: tuple[int, int] | None = None) -> list[OperatorSite]:
    """The operators of a document in source order; only those inside a byte range, if one is given.

    Unary operators and `not` are excluded, because they have no alternatives.

    Raises:
        SourceError: the operators of the document's language are unknown.
    """
    table = operator_table(document.language)
    start, end = span if span is not None else (0, len(document.data))
    return [site for site in _walk(table, document.tree.root_node) if start <= site.start and site.end <= end]


def operator_at(document: Document, offset: int) -> OperatorSite | None:
    """The operator at a byte offset; None if there is none, or if the language's operators are unknown."""
    if document.language not in OPERATORS:
        return None
    table = operator_table(document.language)
    child = document.tree.root_node.descendant_for_byte_range(offset, offset + 1)
    for _ in range(2):  # `not in` is a node around two words
        node = child.parent if child is not None else None
        if child is None or node is None:
            return None
        if (node.type, child.type) in table and not child.is_named:
            return _site(node, child, *table[node.type, child.type])
        child = node
    return None


def leaves(document: Document) -> list[tuple[int, int]]:
    """The byte ranges of a document's lexical tokens, in source order."""
    spans: list[tuple[int, int]] = []
    pending = [document.tree.root_node]
    while pending:
        node = pending.pop()
        if node.children:
            pending.extend(reversed(node.children))
        elif node.end_byte > node.start_byte:
            spans.append((node.start_byte, node.end_byte))
    return spans


def _walk(table: OperatorTable, node: tree_sitter.Node) -> Iterator[OperatorSite]:
    for child in node.children:
        entry = table.get((node.type, child.type))
        if entry is not None and not child.is_named:
            family, candidates = entry
            yield _site(node, child, family, candidates)
        else:
            yield from _walk(table, child)


def _site(
    node: tree_sitter.Node, child: tree_sitter.Node, family: Family, candidates: tuple[str, ...]
) -> OperatorSite:
    text = (node.text or b"").decode("utf-8", "replace")
    return OperatorSite(
        child.start_byte,
        child.end_byte,
        child.type,
        family,
        candidates,
        child.start_point.row + 1,
        (node.start_byte, node.end_byte),
        " ".join(text.split()),
    )
