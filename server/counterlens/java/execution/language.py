"""Calls of Java methods: run in JVMs in the sandbox."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from counterlens.errors import SourceError
from counterlens.java.execution import calls, rewriting, running
from counterlens.java.prompts.values import JAVA_VALUES
from counterlens.judging.base import Setting
from counterlens.probes.execution.language import TAGS, USES, ExecutedLanguage, Features
from counterlens.probes.prompts.language import prompting_of
from counterlens.syntax.definitions import own_name
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.syntax.grammars import parser_for
from counterlens.syntax.tree import descendants

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
_ENDS = ("\n\n", "\nclass ", "\npublic ")


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
        if own_name(node) in _MEMBERS:
            yield "membership"
    elif node.type == "object_creation_expression":
        yield "other call"


def _api(node: Node) -> str:
    """The name of the callee; empty if it has none."""
    if node.type != "method_invocation":
        return ""
    owner = node.child_by_field_name("object")
    if owner is None:
        return own_name(node)
    text = (owner.text or b"").decode("utf-8", "replace")
    static = owner.type == "identifier" and text[:1].isupper()
    return f"{text if static else ''}.{own_name(node)}"


def _operator(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    if operator is None:
        operator = next((child for child in node.children if not child.is_named), None)
    return (operator.text or b"").decode() if operator is not None else ""


class JavaExecution(ExecutedLanguage):
    """See the module."""

    id = "java"
    values = JAVA_VALUES
    traces_headers = False
    stops = {"direct": (*_ENDS, "\n//"), "steps": _ENDS}  # noqa: RUF012 - a constant

    in_tests = staticmethod(calls.in_tests)
    output_of = staticmethod(running.output_of)
    require_ordered = staticmethod(running.require_ordered)
    rounds_of = staticmethod(rewriting.rounds_of)
    trace = staticmethod(rewriting.trace)
    simple_lines = staticmethod(rewriting.simple_lines)
    unanswered = staticmethod(rewriting.java_unanswered)
    features = staticmethod(java_features)
    without_comments = staticmethod(rewriting.without_comments)

    def require_reachable(self, document: Document, function: Function) -> None:
        running.called_method(document, function)

    def calls_in(self, tests: str, qualname: str) -> list[str]:
        return calls.calls_in(tests, calls.name_of(qualname))

    def in_examples(self, document: Document, function: Function) -> list[str]:
        return calls.in_comment(self.described(document, function) or "", function.name)

    def generated(self, *_: object) -> Sequence[str]:
        """None: inputs of Java methods are those of tests and examples."""
        return ()

    def written_out(
        self,
        document: Document,
        function: Function,
        call: str,  # noqa: ARG002
        setting: Setting,  # noqa: ARG002
    ) -> Document:
        """Like `ExecutedLanguage.written_out`: always refused, because Java loops are not unrolled."""
        made = self.features(document.data[function.header : function.end].decode("utf-8", "replace"))
        if made is not None and not {"for", "while"} & set(made.tags):
            raise SourceError("it has no loops")
        raise SourceError("loops in Java are not unrolled")

    def described(self, document: Document, function: Function) -> str | None:
        """Like `ExecutedLanguage.described`: the text of the Javadoc, without its tags."""
        start, end = prompting_of(document.language).docstring(document, function)
        if start >= function.start:
            return None
        text = document.data[start:end].decode("utf-8", "replace").strip()
        inside = text.removeprefix("/**").removesuffix("*/")
        starred = all(line.lstrip().startswith("*") for line in inside.splitlines()[1:] if line.strip())
        lines = [re.sub(r"^\s*\*[ \t]?", "", line) if starred else line for line in inside.splitlines()]
        return "\n".join(_dedent(lines)).strip()


EXECUTION = JavaExecution()


def _dedent(lines: Sequence[str]) -> list[str]:
    """Lines without their common indentation and trailing blanks."""
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(margins, default=0)
    return [line[margin:].rstrip() for line in lines]
