"""A Java program without the parts that show the answer to a question, or without comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tree_sitter import Node

from counterlens.errors import SourceError
from counterlens.java.execution.calls import (
    LiteralCall,
    calls_in,
    in_comment,
    mentions,
    name_of,
    read_call,
    same_arguments,
)
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.syntax.tree import descendants
from counterlens.text import line_start

_NEVER = "the code that reveals the answer cannot be removed from the program"
_COMMENTS = frozenset({"line_comment", "block_comment"})
_CUT = frozenset({"expression_statement", "assert_statement"})


def java_unanswered(document: Document, function: Function, call: str) -> Document:
    """A document without the code and comments that make a call with the same input.

    The removed parts: comments that contain the call, and statements outside the method that make it, or
    that call the method with other than literal arguments.

    Raises:
        SourceError: other code makes the call.
    """
    name = name_of(function.qualname)
    asked = read_call(call, name)
    if asked is None:
        return document
    cuts: list[tuple[int, int]] = []
    for node in _outermost(document.tree.root_node, function):
        if node.type in _COMMENTS:
            if _mentions_call(node, name, asked):
                cuts.append(_whole_lines(document.data, node))
        elif any(
            mention is None or same_arguments(mention.arguments, asked.arguments)
            for mention in mentions(node, name)
        ):
            if node.type not in _CUT:
                raise SourceError(_NEVER)
            cuts.append(_whole_lines(document.data, node))
    return _without(document, cuts)


def without_comments(document: Document) -> Document:
    """A document without its comments."""
    comments = [node for node in descendants(document.tree.root_node) if node.type in _COMMENTS]
    return _without(document, [_whole_lines(document.data, node) for node in comments])


def _outermost(node: Node, function: Function) -> Iterator[Node]:
    """The comments of a program, and its innermost statements and declarations outside a method."""
    for child in node.children:
        inside = function.start <= child.start_byte < function.end
        if child.type in _COMMENTS:
            yield child
        elif inside:
            yield from (inner for inner in descendants(child) if inner.type in _COMMENTS)
        elif child.type.endswith(("_statement", "_declaration")) and not _holds(child):
            yield child
        else:
            yield from _outermost(child, function)


def _holds(node: Node) -> bool:
    """Whether a node contains statements or declarations."""
    return any(
        inner.type in {"block", "class_body", "switch_block", "interface_body", "enum_body"}
        or (inner != node and inner.type.endswith("_statement"))
        for inner in descendants(node)
    )


def _mentions_call(comment: Node, name: str, asked: LiteralCall) -> bool:
    """Whether a comment contains a call, at any place."""
    text = (comment.text or b"").decode("utf-8", "replace")
    if f"{name}(" not in re.sub(r"\s+\(", "(", text):
        return False
    lines = [re.sub(r"^\s*(?:/\*\*?|\*|//)+", "", line) for line in text.splitlines()]
    code = [f"class A {{ Object a = {line[line.index(name) :]}; }}" for line in lines if name in line]
    calls = [*in_comment("\n".join(lines), name), *(call for line in code for call in calls_in(line, name))]
    known = (read_call(call, name) for call in calls)
    return any(call is not None and same_arguments(call.arguments, asked.arguments) for call in known)


def _whole_lines(data: bytes, node: Node) -> tuple[int, int]:
    """The byte range of a node, extended to whole lines if they contain nothing else."""
    start, end = line_start(data, node.start_byte), data.find(b"\n", node.end_byte)
    end = len(data) if end < 0 else end + 1
    alone = not data[start : node.start_byte].strip() and not data[node.end_byte : end].strip()
    return (start, end) if alone else (node.start_byte, node.end_byte)


def _without(document: Document, cuts: list[tuple[int, int]]) -> Document:
    if not cuts:
        return document
    data, at, parts = document.data, 0, []
    for start, end in sorted(cuts):
        if start >= at:
            parts.append(data[at:start])
        at = max(at, end)
    text = b"".join([*parts, data[at:]]).decode("utf-8", "replace")
    return replace(document, text=re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE))
