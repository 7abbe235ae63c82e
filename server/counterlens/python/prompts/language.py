"""Python functions in prompts: indentation ends them, and their docstrings are statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import tree_sitter

from counterlens.models.base import Stop
from counterlens.probes.prompts.language import PromptLanguage, definition_node, indentation
from counterlens.python.prompts.imports import imported_definitions
from counterlens.syntax.document import Document
from counterlens.syntax.functions import MODULE, Function
from counterlens.text import line_start

STAND_INS = ("pass", "return 42")
"""Statements with which every function's tests should fail."""
PRINTING_STAND_INS = ("pass", "print(42)")
"""The same for whole programs."""
_OWNERS = {"self", "cls"}
_BEFORE_TEXT = {"import_statement", "import_from_statement", "comment"}


class PythonPrompts(PromptLanguage):
    """See the module."""

    texts = frozenset({"comment", "string_content"})

    def described(self, text: str) -> str:
        """Like `PromptLanguage.described`."""
        return f'"""\n{_quotable(text)}\n"""\n'

    def imported(self, document: Document, function: Function) -> str:
        """Like `PromptLanguage.imported`."""
        return imported_definitions(document, function)

    def docstring(self, document: Document, function: Function) -> tuple[int, int]:
        """Like `PromptLanguage.docstring`; none if the function has no other statement."""
        body = _body(document, function)
        following = next((node for node in body[1:] if node.type != "comment"), None)
        if following is None or not _is_text(body[0]):
            return function.end, function.end
        return body[0].start_byte, following.start_byte

    def behind_docstring(self, document: Document, function: Function) -> int:
        """Like `PromptLanguage.behind_docstring`."""
        body = _body(document, function)
        if not body:
            return function.body
        # HumanEvalPack has imports before some docstrings, which are then strings like any other.
        lead = next((i for i, node in enumerate(body) if node.type not in _BEFORE_TEXT), len(body))
        described = lead + 1 < len(body) and _is_text(body[lead])
        return line_start(document.data, body[lead + 1 if described else 0].start_byte)

    def hollow(self, document: Document, function: Function, text: str = "") -> Document:
        """Like `PromptLanguage.hollow`."""
        data = document.data
        if function.name == MODULE:
            described = f'"""{_quotable(text)}"""\n' if text else ""
            return replace(document, text=f"{described}raise NotImplementedError\n")
        margin = data[line_start(data, function.header) : function.header].decode()
        indent = f"{margin}    "
        quoted = _quotable(text)
        lines = "\n".join(f"{indent}{line}" if line else "" for line in quoted.splitlines())
        closing = f"\n{indent}" if "\n" in quoted or quoted.endswith('"') else ""
        described = f'{indent}"""{lines.strip()}{closing}"""\n' if text else ""
        node = definition_node(document, function)
        header_end = next(child.end_byte for child in node.children if child.type == ":")
        before = data[:header_end].decode().rstrip()
        after = data[function.end :].decode() or "\n"
        return replace(document, text=f"{before}\n{described}{indent}raise NotImplementedError{after}")

    def alone(self, text: str) -> str:
        """Like `PromptLanguage.alone`."""
        return text

    def stop(self, document: Document, function: Function, cut: int) -> Stop:  # noqa: ARG002 - the same at any cut
        """Like `PromptLanguage.stop`: before the next line that is not indented deeper than the header."""
        if function.name == MODULE:
            return Stop()
        data = document.data
        margin = data[line_start(data, function.header) : function.header].decode("utf-8", "replace")
        return Stop(indent=len(margin.expandtabs(8)))

    def stand_ins(self, document: Document, function: Function) -> tuple[str, ...]:  # noqa: ARG002 - of any type
        """Like `PromptLanguage.stand_ins`."""
        return PRINTING_STAND_INS if function.name == MODULE else STAND_INS

    def emptied(self, rest: str, stand_in: str, stop: Stop) -> tuple[str, ...]:  # noqa: ARG002 - ended by indentation
        """Like `PromptLanguage.emptied`."""
        return (f"{indentation(rest)}{stand_in}\n",)

    def names(self, node: tree_sitter.Node, owners: set[str]) -> bool:
        """Like `PromptLanguage.names`: another object's attribute or an argument's name does not count."""
        parent = node.parent
        if parent is None:
            return True
        if parent.type == "keyword_argument":
            return parent.child_by_field_name("name") != node
        if parent.type == "attribute" and parent.child_by_field_name("attribute") == node:
            owner = parent.child_by_field_name("object")
            return owner is not None and (owner.text or b"").decode("utf-8", "replace") in owners | _OWNERS
        return True


def _quotable(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _is_text(statement: tree_sitter.Node) -> bool:
    return bool(statement.children) and statement.children[0].type == "string"


def _body(document: Document, function: Function) -> Sequence[tree_sitter.Node]:
    """The statements of a function's body, and the comments between them; the first is a statement."""
    if function.name == MODULE:
        nodes = document.tree.root_node.named_children
        first = next((i for i, node in enumerate(nodes) if node.type != "comment"), len(nodes))
        return nodes[first:]
    body = definition_node(document, function).child_by_field_name("body")
    return body.named_children if body is not None else ()


PROMPTS = PythonPrompts()
