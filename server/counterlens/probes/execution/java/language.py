"""Calls of Java methods: run in JVMs in the sandbox."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from threading import Event

from tree_sitter import Node

from counterlens.attribution.base import Setting
from counterlens.attribution.java import differential
from counterlens.errors import SourceError
from counterlens.probes.execution.features import TAGS, USES, Features
from counterlens.probes.execution.java import calls, running, watching
from counterlens.probes.execution.java.calls import (
    LiteralCall,
    calls_in,
    in_comment,
    mentions,
    name_of,
    read_call,
    same_arguments,
)
from counterlens.probes.execution.language import ExecutedLanguage
from counterlens.probes.observe.run import Step
from counterlens.probes.prompts.java_values import JAVA_VALUES, expression, plain
from counterlens.probes.prompts.languages import prompted
from counterlens.probes.prompts.literals import Literal
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.syntax.grammars import parser_for
from counterlens.syntax.tree import descendants
from counterlens.text import line_start

_FOR = frozenset({"for_statement", "enhanced_for_statement"})
_WHILE = frozenset({"while_statement", "do_statement"})
_SWITCH = frozenset({"switch_expression", "switch_statement"})
_TRY = frozenset({"try_statement", "try_with_resources_statement"})
_DECISIONS = frozenset({"if_statement", "ternary_expression", "catch_clause", "assert_statement"})
_ARITHMETIC = frozenset(["+", "-", "*", "/", "%", "+=", "-=", "*=", "/=", "%=", "++", "--"])
_COMPARISONS = frozenset(["==", "!=", "<", ">", "<=", ">="])
_BOOLEAN = frozenset(["&&", "||", "!"])
_BITWISE = frozenset(["&", "|", "^", "~", "<<", ">>", ">>>", "&=", "|=", "^=", "<<=", ">>=", ">>>="])
_MEMBERS = frozenset({"contains", "containsKey", "containsValue", "indexOf"})

_NEVER = "the code that reveals the answer cannot be removed from the program"
_COMMENTS = frozenset({"line_comment", "block_comment"})
_CUT = frozenset({"expression_statement", "assert_statement"})

_ENDS = ("\n\n", "\nclass ", "\npublic ")


class JavaExecution(ExecutedLanguage):
    """See the module."""

    id = "java"
    values = JAVA_VALUES
    unrolls = False
    stops = {"direct": (*_ENDS, "\n//"), "steps": _ENDS}  # noqa: RUF012 - a constant

    def require_reachable(self, document: Document, function: Function) -> None:
        """Like `ExecutedLanguage.require_reachable`."""
        running.called_method(document, function)

    def calls_in(self, tests: str, qualname: str) -> list[str]:
        """Like `ExecutedLanguage.calls_in`."""
        return calls.calls_in(tests, calls.name_of(qualname))

    def in_examples(self, document: Document, function: Function) -> list[str]:
        """Like `ExecutedLanguage.in_examples`."""
        return calls.in_comment(self.described(document, function) or "", function.name)

    def in_tests(self, document: Document, function: Function) -> list[str]:
        """Like `ExecutedLanguage.in_tests`."""
        return calls.in_tests(document, function)

    def generated(self, document: Document, function: Function, setting: Setting) -> Sequence[str]:
        """Like `ExecutedLanguage.generated`."""
        original = differential.find_out(document, function, setting)
        if not isinstance(original, differential.JavaOriginal):
            return ()
        pairs = zip(original.calls, original.answers, strict=True)
        given = (call.arguments for call, answer in pairs if answer.value is not None)
        return [
            f"{function.name}({', '.join(map(expression, arguments))})"
            for arguments in given
            if all(map(plain, arguments))
        ]

    def output_of(
        self, document: Document, call: str, sandbox: Sandbox, *, limits: Limits, cancel: Event | None = None
    ) -> Literal:
        """Like `ExecutedLanguage.output_of`."""
        return running.output_of(document, call, sandbox, limits=limits, cancel=cancel)

    def require_ordered(
        self,
        document: Document,
        call: str,
        gives: Literal,
        sandbox: Sandbox,
        *,
        limits: Limits,
        cancel: Event | None = None,
    ) -> None:
        """Like `ExecutedLanguage.require_ordered`."""
        running.require_ordered(document, call, gives, sandbox, limits=limits, cancel=cancel)

    def rounds_of(
        self, document: Document, call: str, sandbox: Sandbox, *, limits: Limits, cancel: Event | None = None
    ) -> int:
        """Like `ExecutedLanguage.rounds_of`."""
        return watching.rounds_of(document, call, sandbox, limits=limits, cancel=cancel)

    def trace(
        self, document: Document, call: str, sandbox: Sandbox, *, limits: Limits, cancel: Event | None = None
    ) -> list[Step]:
        """Like `ExecutedLanguage.trace`."""
        return watching.trace(document, call, sandbox, limits=limits, cancel=cancel)

    def simple_lines(self, document: Document, function: Function) -> set[int]:
        """Like `ExecutedLanguage.simple_lines`."""
        return watching.simple_lines(document, function)

    def written_out(
        self,
        document: Document,
        function: Function,
        call: str,  # noqa: ARG002
        sandbox: Sandbox,  # noqa: ARG002
        *,
        limits: Limits,  # noqa: ARG002
        cancel: Event | None = None,  # noqa: ARG002
    ) -> Document:
        """Like `ExecutedLanguage.written_out`: always refused, because Java loops are not unrolled."""
        made = self.features(document.data[function.header : function.end].decode("utf-8", "replace"))
        if made is not None and not {"for", "while"} & set(made.tags):
            raise SourceError("it has no loops")
        raise SourceError("loops in Java are not unrolled")

    def unanswered(self, document: Document, function: Function, call: str) -> Document:
        """Like `ExecutedLanguage.unanswered`."""
        return java_unanswered(document, function, call)

    def features(self, text: str) -> Features | None:
        """Like `ExecutedLanguage.features`."""
        return java_features(text)

    def described(self, document: Document, function: Function) -> str | None:
        """Like `ExecutedLanguage.described`: the text of the Javadoc, without its tags."""
        start, end = prompted(document.language).docstring(document, function)
        if start >= function.start:
            return None
        text = document.data[start:end].decode("utf-8", "replace").strip()
        inside = text.removeprefix("/**").removesuffix("*/")
        starred = all(line.lstrip().startswith("*") for line in inside.splitlines()[1:] if line.strip())
        lines = [re.sub(r"^\s*\*[ \t]?", "", line) if starred else line for line in inside.splitlines()]
        return "\n".join(_dedented(lines)).strip()

    def without_comments(self, document: Document) -> Document:
        """Like `ExecutedLanguage.without_comments`."""
        return without_comments(document)


EXECUTION = JavaExecution()


def _dedented(lines: Sequence[str]) -> list[str]:
    """Lines without their common indentation and trailing blanks."""
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(margins, default=0)
    return [line[margin:].rstrip() for line in lines]


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
            found is None or same_arguments(found.arguments, asked.arguments)
            for found in mentions(node, name)
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
    found = [*in_comment("\n".join(lines), name), *(call for line in code for call in calls_in(line, name))]
    known = (read_call(call, name) for call in found)
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


def java_features(text: str) -> Features | None:
    """The features of a method's text; None if it does not parse."""
    code = textwrap.dedent(text)
    root = parser_for("java").parse(f"class Alone {{\n{code}\n}}\n".encode()).root_node
    if root.has_error:
        return None
    constructs = set(_tags(root, loops=0, branches=0)) or {"basic"}
    nodes = list(descendants(root))
    used = {use for node in nodes for use in _uses(node)}
    return Features(
        tuple(tag for tag in TAGS if tag in constructs),
        sum(map(_decisions, nodes)) + 1,
        sum(bool(line.strip()) for line in code.splitlines()),
        tuple(use for use in USES if use in used),
        tuple(sorted({_api(node) for node in nodes} - {""})),
    )


def _tags(node: Node, *, loops: int, branches: int) -> Iterator[str]:
    for child in node.named_children:
        inside_loops, inside_branches = loops, branches
        if child.type in _FOR | _WHILE:
            yield "for" if child.type in _FOR else "while"
            if loops:
                yield "nested loop"
            inside_loops += 1
        elif child.type == "if_statement":
            yield "if"
            else_if = node.type == "if_statement" and node.child_by_field_name("alternative") == child
            if branches and not else_if:
                yield "nested if"
            inside_branches += not else_if
        elif child.type in _TRY:
            yield "try"
        elif child.type in _SWITCH:
            yield "match"
        yield from _tags(child, loops=inside_loops, branches=inside_branches)


def _decisions(node: Node) -> int:
    if node.type == "binary_expression":
        return int(_operator(node) in {"&&", "||"})
    if node.type == "switch_label":
        return int(not (node.text or b"").startswith(b"default"))
    return int(node.type in _DECISIONS | _FOR | _WHILE)


def _uses(node: Node) -> Iterator[str]:
    if node.type in {"binary_expression", "assignment_expression", "unary_expression", "update_expression"}:
        operator = _operator(node)
        number = node.type == "unary_expression" and node.named_children[-1].type.endswith("_literal")
        if operator in _ARITHMETIC and not number:  # -1 is a literal
            yield "arithmetic"
        for operators, use in (
            (_COMPARISONS, "comparison"),
            (_BOOLEAN, "boolean"),
            (_BITWISE, "bitwise"),
        ):
            if operator in operators:
                yield use
    elif node.type == "instanceof_expression":
        yield "membership"
    elif node.type == "method_invocation":
        yield "method call" if node.child_by_field_name("object") is not None else "other call"
        if _name(node) in _MEMBERS:
            yield "membership"
    elif node.type == "object_creation_expression":
        yield "other call"


def _api(node: Node) -> str:
    """The name of the callee; empty if it has none."""
    if node.type != "method_invocation":
        return ""
    owner = node.child_by_field_name("object")
    if owner is None:
        return _name(node)
    text = (owner.text or b"").decode("utf-8", "replace")
    static = owner.type == "identifier" and text[:1].isupper()
    return f"{text if static else ''}.{_name(node)}"


def _operator(node: Node) -> str:
    found = node.child_by_field_name("operator")
    if found is None:
        found = next((child for child in node.children if not child.is_named), None)
    return (found.text or b"").decode() if found is not None else ""


def _name(node: Node) -> str:
    found = node.child_by_field_name("name")
    return (found.text or b"").decode("utf-8", "replace") if found is not None else ""
