"""Existing calls of a Java method: in its documentation, in tests, and in a dataset's tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from counterlens.java.judging.judge import files_with_tests
from counterlens.java.prompts.values import equal, java_literal
from counterlens.probes.execution.language import MOST_BYTES
from counterlens.sandbox.java.values import JavaValue
from counterlens.syntax.definitions import text_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.syntax.grammars import parser_for
from counterlens.syntax.tree import descendants

_QUOTED = r'"(?:[^"\\\n]|\\.)*"' + r"|'(?:[^'\\\n]|\\.)+'"
_BLANKS = re.compile(rf"({_QUOTED})|(?<=[(\[{{])\s+|\s+(?=[)\]}}])|\s+")
_MARGIN = re.compile(r"^\s*\*?\s*(?:>>>\s*)?")


@dataclass(frozen=True, slots=True)
class LiteralCall:
    """A call whose arguments are literals.

    Attributes:
        written: The call, without an object or a class before its name.
    """

    written: str
    arguments: tuple[JavaValue, ...]


def name_of(qualname: str) -> str:
    """The simple name of a method, such as `add` of `Sum.add(int)`."""
    return qualname.partition("(")[0].rpartition(".")[2]


def calls_in(code: str, name: str) -> list[str]:
    """The distinct calls of a method with literal arguments in some code, in the order of the text.

    Args:
        code: A Java source, or a part of one.
        name: The simple name of the method.
    """
    root = parser_for("java").parse(code.encode("utf-8", "surrogatepass")).root_node
    literal_calls = (literal_call(node, name) for node in descendants(root))
    calls = (call.written for call in literal_calls if call is not None)
    return list(dict.fromkeys(call for call in calls if len(call.encode()) <= MOST_BYTES))


def literal_call(node: Node, name: str) -> LiteralCall | None:
    """The call in a node, if it is a call of a method with literal arguments; else None."""
    if node.type != "method_invocation" or node.has_error:
        return None
    named, listed = node.child_by_field_name("name"), node.child_by_field_name("arguments")
    if named is None or listed is None or text_of(named) != name:
        return None
    texts = [text_of(child) for child in listed.named_children if not child.type.endswith("comment")]
    literals = [java_literal(text, strict=True) for text in texts]
    if any(literal is None for literal in literals):
        return None
    inside = ", ".join(map(on_one_line, texts))
    return LiteralCall(
        f"{name}({inside})", tuple(literal.value for literal in literals if literal is not None)
    )


def read_call(call: str, name: str) -> LiteralCall | None:
    """The call in a text, if it is a call of a method with literal arguments; else None."""
    root = parser_for("java").parse(f"class A {{ Object a = {call}; }}".encode()).root_node
    declarators = [node for node in descendants(root) if node.type == "variable_declarator"]
    value = (
        declarators[0].child_by_field_name("value") if len(declarators) == 1 and not root.has_error else None
    )
    return literal_call(value, name) if value is not None and text_of(value) == call else None


def in_comment(comment: str, name: str) -> list[str]:
    """The calls of a method at the beginning of lines of a comment."""
    calls: list[str] = []
    for line in comment.splitlines():
        text = _MARGIN.sub("", line)
        if text.startswith(f"{name}("):
            calls += calls_in(f"class A {{ Object a = {text}; }}", name)[:1]
    return list(dict.fromkeys(calls))


def in_tests(document: Document, function: Function) -> list[str]:
    """The calls of a method in the project's tests that name the method and its class."""
    if document.path is None or not document.path.is_file():
        return []
    calls: dict[str, None] = {}
    for source in files_with_tests(document, function):
        calls.update(dict.fromkeys(calls_in(source.text, function.name)))
    return list(calls)


def same_arguments(arguments: Sequence[JavaValue], other: Sequence[JavaValue]) -> bool:
    """Whether two calls have the same arguments, whatever the classes of lists and numbers."""
    return len(arguments) == len(other) and all(map(equal, arguments, other))


def mentions(node: Node, name: str) -> Iterator[LiteralCall | None]:
    """The calls of a method inside a node; None for a call with other than literal arguments."""
    for inner in descendants(node):
        if inner.type == "method_invocation":
            named = inner.child_by_field_name("name")
            if named is not None and text_of(named) == name:
                yield literal_call(inner, name)


def on_one_line(text: str) -> str:
    """A piece of code on one line, with unchanged strings."""
    return _BLANKS.sub(_blank, text.strip())


def _blank(match: re.Match[str]) -> str:
    if match[1]:
        return match[1]
    before, after = match.string[: match.start()], match.string[match.end() :]
    return "" if before[-1:] in set("([{") or after[:1] in set(")]}") else " "
