"""Java programs rewritten for questions: with notes of a run, without the answer, or without comments.

The notes are calls of `Watch.java`: of the rounds of loops, and of the changes by the lines of a method. Line
numbers stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

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
from counterlens.java.execution.running import (
    CalledMethod,
    addition,
    called_method,
    expression,
    method_of_call,
    result_of,
)
from counterlens.judging.base import Setting
from counterlens.probes.execution.language import Step
from counterlens.sandbox.java.values import JavaValue
from counterlens.syntax.definitions import text_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.syntax.tree import descendants
from counterlens.text import line_start

_NEVER = "the code that reveals the answer cannot be removed from the program"
_COMMENTS = frozenset({"line_comment", "block_comment"})
_CUT = frozenset({"expression_statement", "assert_statement"})
_WATCH = "counterlens.watch.Watch"
_UNITS = (("Watch.java", Path(__file__).with_name("Watch.java").read_text(encoding="utf-8")),)
_LOOPS = frozenset({"for_statement", "enhanced_for_statement", "while_statement", "do_statement"})
_APART = frozenset({"lambda_expression", "class_body", "class_declaration"})
_STATEMENTS = frozenset({"expression_statement", "local_variable_declaration"})
_SPECIAL = frozenset({"for_statement", "switch_rule", "try_with_resources_statement"})
_PARTS = {"array_access": "array", "method_invocation": "object"}
Changed = tuple[str, bool]
"""A variable, and whether it certainly has a value before the statement."""


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
    literal_calls = (read_call(call, name) for call in calls)
    return any(call is not None and same_arguments(call.arguments, asked.arguments) for call in literal_calls)


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


def rounds_of(document: Document, call: str, setting: Setting) -> int:
    """Like `ExecutedLanguage.rounds_of`."""
    method = method_of_call(document, call)
    writer = _Notes(document.data)
    for node in descendants(document.tree.root_node):
        if node.type in _LOOPS:
            writer.note_round(node)
    (value,) = _result(document, writer, method, call, "rounds()", setting)
    return int(value[1])


def trace(document: Document, call: str, setting: Setting) -> list[Step]:
    """Like `ExecutedLanguage.trace`: the steps are simple statements that stand alone on their lines."""
    method = method_of_call(document, call)
    body = method.node.child_by_field_name("body")
    assert body is not None  # `method_of_call` finds no other
    writer = _Notes(document.data)
    writer.note_activation(body)
    kinds = {"variable_declarator", "formal_parameter", "enhanced_for_statement"}
    local_names = {
        text_of(node.child_by_field_name("name")) for node in _own(method.node) if node.type in kinds
    }
    for statement in _simple(method.node, document.data):
        writer.note_changes(statement, _changed_locals(statement, local_names))
    (value,) = _result(document, writer, method, call, "steps()", setting)
    return [_step(str(item[1])) for item in value[2]]


def simple_lines(document: Document, function: Function) -> set[int]:
    """Like `ExecutedLanguage.simple_lines`."""
    method = called_method(document, function)
    return {statement.start_point.row + 1 for statement in _simple(method.node, document.data)}


def _result(
    document: Document,
    writer: _Notes,
    method: CalledMethod,
    call: str,
    asked: str,
    setting: Setting,
) -> list[JavaValue]:
    statements = f"{expression(method, call)}; return {_WATCH}.{asked};"
    at, added = addition(method, statements)
    writer.insert(at, added)
    return result_of(document, writer.text, method, setting, more=_UNITS)


@dataclass
class _Notes:
    """A program's text with inserted notes: calls of `Watch.java`."""

    data: bytes
    inserted: list[tuple[int, int, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        parts, at = [], 0
        for start, _, text in sorted(self.inserted, key=lambda insertion: insertion[:2]):
            parts += [self.data[at:start], text.encode()]
            at = start
        return b"".join([*parts, self.data[at:]]).decode("utf-8", "replace")

    def insert(self, at: int, text: str) -> None:
        """Insert a text at a byte offset, after earlier insertions there."""
        self.inserted.append((at, len(self.inserted), text))

    def note_round(self, loop: Node) -> None:
        """Insert a note at the beginning of a loop's body."""
        body = loop.child_by_field_name("body")
        if body is None or body.type == ";":
            return
        if body.type == "block":
            self.insert(body.start_byte + 1, f" {_WATCH}.round(); ")
        else:
            self.insert(body.start_byte, f"{{ {_WATCH}.round(); ")
            self.insert(body.end_byte, " }")

    def note_activation(self, body: Node) -> None:
        """Insert notes at the beginning and the end of a method's activation."""
        self.insert(body.start_byte + 1, f" {_WATCH}.enter(); try {{ ")
        self.insert(body.end_byte - 1, f" }} finally {{ {_WATCH}.leave(); }} ")

    def note_changes(self, statement: Node, variables: Iterable[Changed]) -> None:
        """Insert a note after a simple statement, with the variables that it may change."""
        line, befores, given = statement.start_point.row + 1, "", ""
        for number, (name, before) in enumerate(variables):
            kept = f"counterlens$before{number}"
            befores += f"String {kept} = {_WATCH}.before({name}); " if before else ""
            given += f', "{name}", {kept if before else "null"}, {name}'
        note = f" {_WATCH}.ran({line}{given});"
        if statement.type == "local_variable_declaration":
            self.insert(statement.end_byte, note)
        else:
            self.insert(statement.start_byte, f"{{ {befores}")
            self.insert(statement.end_byte, f"{note} }}")


def _simple(method: Node, data: bytes) -> Iterator[Node]:
    """The simple statements of a method that are alone on their line."""
    for node in _own(method):
        parent = node.parent
        if node.type not in _STATEMENTS or parent is None or parent.type in _SPECIAL:
            continue
        start, end = line_start(data, node.start_byte), data.find(b"\n", node.end_byte)
        around = data[start : node.start_byte] + data[node.end_byte : end if end >= 0 else len(data)]
        if node.start_point.row == node.end_point.row and not around.strip():
            yield node


def _own(node: Node) -> Iterator[Node]:
    """The nodes inside a method, without those of nested lambdas and classes."""
    for child in node.named_children:
        if child.type not in _APART:
            yield child
            yield from _own(child)


def _changed_locals(statement: Node, locals_: set[str]) -> Iterator[Changed]:
    """The local variables that a simple statement may change, each with whether it has a value before."""
    if statement.type == "local_variable_declaration":
        for declarator in statement.children_by_field_name("declarator"):
            if declarator.child_by_field_name("value") is not None:
                yield text_of(declarator.child_by_field_name("name")), False
        return
    inside = statement.named_children[0]
    target: Node | None = None
    before = True
    if inside.type == "assignment_expression":
        target = inside.child_by_field_name("left")
        plain = target is not None and target.type == "identifier"
        before = not plain or text_of(inside.child_by_field_name("operator")) != "="
    elif inside.type == "update_expression":
        target = inside.named_children[-1]
    elif inside.type == "method_invocation":
        target = inside.child_by_field_name("object")
    while target is not None and target.type in _PARTS:
        target = target.child_by_field_name(_PARTS[target.type])
    if target is not None and target.type == "identifier" and text_of(target) in locals_:
        yield text_of(target), before


def _step(text: str) -> Step:
    line, *rest = text.split("\n")
    return Step(int(line), dict(zip(rest[::2], rest[1::2], strict=True)))
