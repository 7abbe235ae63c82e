"""What of a function is shown: its definition without the docstring, and for a name without the name."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

import tree_sitter

from counterlens.probes.prompts.function_text import docstring
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function

MASK = "<FILL>"
"""Stands for the name, as in the paper (Nguyen et al. 2024, section 4.3)."""
_OWNERS = {"self", "cls"}


def definition(document: Document, qualname: str) -> str:
    r"""A function's definition without its docstring, dedented, with `\n` at line ends."""
    function = find_function(document, qualname)
    return _text(document, function, document.data[: function.end])


def masked(document: Document, qualname: str) -> str:
    """As `definition`, with the function's name hidden wherever it stands for the function.

    Its calls of itself, also by `self` or its class; in comments and texts wherever the word stands, because
    that would give it away. An attribute of something else or the name of an argument is not it.
    """
    function = find_function(document, qualname)
    data, owners = document.data, _OWNERS | set(function.qualname.split(".")[:-1])
    pieces, at = [], 0
    for start, end in _places(document.tree.root_node, function, owners):
        if function.start <= start and end <= function.end:
            pieces.append((at, start))
            at = end
    pieces.append((at, function.end))
    cut = docstring(document, function)
    return _joined(data, pieces, function, cut)


def _text(document: Document, function: Function, data: bytes) -> str:
    start, end = docstring(document, function)
    return _shown(data, function.start, data[function.start : start] + data[end:])


def _joined(data: bytes, pieces: list[tuple[int, int]], function: Function, cut: tuple[int, int]) -> str:
    """The pieces between the names, without the docstring."""
    kept = []
    for number, (start, end) in enumerate(pieces):
        first = max(start, function.start)
        before, after = data[first : max(first, min(end, cut[0]))], data[max(first, cut[1]) : end]
        kept.append(before + after if first < cut[1] and end > cut[0] else data[first:end])
        named = number + 1 < len(pieces) and not cut[0] <= end < cut[1]
        kept.append(MASK.encode() if named else b"")
    return _shown(data, function.start, b"".join(kept))


def _shown(data: bytes, start: int, text: bytes) -> str:
    line = data.rfind(b"\n", 0, start) + 1
    whole = (data[line:start] + text).replace(b"\r\n", b"\n").decode("utf-8", "replace")
    return textwrap.dedent(whole).rstrip()


def _places(node: tree_sitter.Node, function: Function, owners: set[str]) -> Iterator[tuple[int, int]]:
    """Where the name stands for the function, in the order of the text."""
    name = function.name.encode()
    if node.type == "identifier":
        if node.text == name and _is_it(node, owners):
            yield node.start_byte, node.end_byte
    elif node.type in {"comment", "string_content"}:
        for found in re.finditer(rb"(?<!\w)" + re.escape(name) + rb"(?!\w)", node.text or b""):
            yield node.start_byte + found.start(), node.start_byte + found.end()
    else:
        for child in node.children:
            yield from _places(child, function, owners)


def _is_it(node: tree_sitter.Node, owners: set[str]) -> bool:
    parent = node.parent
    if parent is None:
        return True
    if parent.type == "keyword_argument":
        return parent.child_by_field_name("name") != node
    if parent.type == "attribute" and parent.child_by_field_name("attribute") == node:
        owner = parent.child_by_field_name("object")
        return owner is not None and (owner.text or b"").decode("utf-8", "replace") in owners
    return True
