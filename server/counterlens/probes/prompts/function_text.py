"""The text of a function: its visible part, its docstring, and the function without a body."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

import tree_sitter

from counterlens.confidence.units import units
from counterlens.errors import SourceError
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function

WHOLE_BYTES = 4096
"""Of longer files only the header and the definition are shown."""
MASK = "<FILL>"
"""Stands for the name, as in the paper (Nguyen et al. 2024, section 4.3)."""
_OWNERS = {"self", "cls"}


def shown(document: Document, function: Function) -> str:
    r"""The visible part of a program: all of it, or of a long one the header and the definition.

    The function's docstring is left out, because its examples would give answers away. Line ends are `\n`.
    """
    data = document.data
    cut = docstring(document, function)
    if len(data) <= WHOLE_BYTES:
        pieces = [data[: cut[0]], data[cut[1] :]]
    else:
        unit = next(unit for unit in units(document) if unit.start <= function.header < unit.end)
        pieces = [data[: unit.context], data[unit.start : cut[0]], data[cut[1] : function.end]]
    return b"".join(pieces).replace(b"\r\n", b"\n").decode("utf-8", "replace")


def definition(document: Document, qualname: str) -> str:
    r"""A function's definition without its docstring, dedented, with `\n` at line ends."""
    function = find_function(document, qualname)
    return _edited(document, function, [(*docstring(document, function), "")])


def masked(document: Document, qualname: str) -> str:
    """Like `definition`, with the function's name hidden wherever it stands for the function.

    Its calls of itself, also by `self` or its class; in comments and texts wherever the word stands, because
    that would give it away. An attribute of something else or the name of an argument is not it.
    """
    function = find_function(document, qualname)
    owners, cut = _OWNERS | set(function.qualname.split(".")[:-1]), docstring(document, function)
    names = [
        (start, end, MASK)
        for start, end in _names(document.tree.root_node, function, owners)
        if function.start <= start and end <= function.end and not cut[0] <= start < cut[1]
    ]
    return _edited(document, function, sorted([(*cut, ""), *names]))


def docstring(document: Document, function: Function) -> tuple[int, int]:
    """The bytes of a function's docstring up to the next statement; none if there is no other."""
    body = _body(document, function)
    following = next((node for node in body[1:] if node.type != "comment"), None)
    if following is None or not _is_text(body[0]):
        return function.end, function.end
    return body[0].start_byte, following.start_byte


def behind_docstring(document: Document, function: Function) -> int:
    """The first byte of the line of a function's first statement, or of what stands behind its docstring."""
    body = _body(document, function)
    if not body:
        return function.body
    first = body[1] if len(body) > 1 and _is_text(body[0]) else body[0]
    return line_start(document.data, first.start_byte)


def hollow(document: Document, function: Function, text: str = "") -> Document:
    """The document with a function that does nothing but fail.

    Args:
        document: The source.
        function: The function.
        text: Its docstring; there is none if it is empty.

    Raises:
        SourceError: the header of the function cannot be read.
    """
    data = document.data
    margin = data[line_start(data, function.header) : function.header].decode()
    indent = f"{margin}    "
    quoted = text.replace("\\", "\\\\").replace('"""', "'''")
    lines = "\n".join(f"{indent}{line}" if line else "" for line in quoted.splitlines())
    closing = f"\n{indent}" if "\n" in quoted or quoted.endswith('"') else ""
    described = f'{indent}"""{lines.strip()}{closing}"""\n' if text else ""
    before = data[: _header_end(document, function)].decode().rstrip()
    after = data[function.end :].decode() or "\n"
    return replace(document, text=f"{before}\n{described}{indent}raise NotImplementedError{after}")


def line_start(data: bytes, offset: int) -> int:
    """The first byte of the line that a byte stands in."""
    return data.rfind(b"\n", 0, offset) + 1


def _edited(document: Document, function: Function, edits: Sequence[tuple[int, int, str]]) -> str:
    """A function's text with some ranges of bytes replaced, in their order."""
    data, at, pieces = document.data, line_start(document.data, function.start), []
    for start, end, text in edits:
        pieces += [data[at:start], text.encode()]
        at = end
    whole = b"".join([*pieces, data[at : function.end]]).replace(b"\r\n", b"\n")
    return textwrap.dedent(whole.decode("utf-8", "replace")).rstrip()


def _names(node: tree_sitter.Node, function: Function, owners: set[str]) -> Iterator[tuple[int, int]]:
    """The places where the name means the function, in the order of the text."""
    name = function.name.encode()
    if node.type == "identifier":
        if node.text == name and _is_it(node, owners):
            yield node.start_byte, node.end_byte
    elif node.type in {"comment", "string_content"}:
        for word in re.finditer(rb"(?<!\w)" + re.escape(name) + rb"(?!\w)", node.text or b""):
            yield node.start_byte + word.start(), node.start_byte + word.end()
    else:
        for child in node.children:
            yield from _names(child, function, owners)


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


def _is_text(statement: tree_sitter.Node) -> bool:
    return bool(statement.children) and statement.children[0].type == "string"


def _body(document: Document, function: Function) -> Sequence[tree_sitter.Node]:
    """The statements of a function's body, and the comments between them; the first is a statement."""
    body = _definition(document, function).child_by_field_name("body")
    return body.named_children if body is not None else ()


def _header_end(document: Document, function: Function) -> int:
    """The byte after the colon of a function's header."""
    return next(child.end_byte for child in _definition(document, function).children if child.type == ":")


def _definition(document: Document, function: Function) -> tree_sitter.Node:
    node = document.tree.root_node.descendant_for_byte_range(function.header, function.header + 3)
    while node is not None and node.type != "function_definition":
        node = node.parent
    if node is None:
        raise SourceError(f"the header of {function.qualname} cannot be read")
    return node
