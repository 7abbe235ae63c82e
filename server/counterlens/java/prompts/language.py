"""Java methods in prompts: their closing brace ends them, and their Javadoc precedes them."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace

import tree_sitter

from counterlens.models.base import Stop
from counterlens.models.stopping import open_braces
from counterlens.probes.prompts.language import PromptLanguage, definition_node, indentation
from counterlens.syntax.definitions import text_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import MODULE, Function
from counterlens.text import line_start

_FAILING = "throw new UnsupportedOperationException();"
_FAILING_PROGRAM = f"""\
public class Main {{
    public static void main(String[] args) {{
        {_FAILING}
    }}
}}
"""
_NUMBERS = frozenset({"integral_type", "floating_point_type"})
_REFERENCED = ("method_invocation", "method_declaration", "constructor_declaration", "method_reference")
_OWNERS = {"this", "super"}
_NO_ESCAPE = re.compile(r"\\(u++)(?![0-9a-fA-F]{4})")


class JavaPrompts(PromptLanguage):
    """See the module."""

    texts = frozenset({"line_comment", "block_comment", "string_fragment", "multiline_string_fragment"})
    suffix = "-java"

    def described(self, text: str) -> str:
        return f"/*\n{_commentable(text)}\n*/\n"

    def docstring(self, document: Document, function: Function) -> tuple[int, int]:
        """Like `PromptLanguage.docstring`: the Javadoc above a method, as whole lines if possible."""
        if function.name == MODULE:
            return function.end, function.end
        above = definition_node(document, function).prev_sibling
        if above is None or above.type != "block_comment" or not (above.text or b"").startswith(b"/**"):
            return function.end, function.end
        data = document.data
        lines = line_start(data, above.start_byte), line_start(data, function.start)
        alone = not data[lines[0] : above.start_byte].strip() and above.end_byte <= lines[1]
        return lines if alone else (above.start_byte, function.start)

    def behind_docstring(self, document: Document, function: Function) -> int:
        """Like `PromptLanguage.behind_docstring`; for an empty body, the byte after its opening brace."""
        if function.name == MODULE:
            return function.body
        body = _body(document, function)
        inside = body.named_children
        first = next((node for node in inside if not node.type.endswith("comment")), None)
        if first is None:
            return body.start_byte + 1
        start = line_start(document.data, first.start_byte)
        return start if start > body.start_byte else first.start_byte

    def hollow(self, document: Document, function: Function, text: str = "") -> Document:
        """Like `PromptLanguage.hollow`; a constructor keeps an explicit call of another constructor."""
        if function.name == MODULE:
            described = self.described(text) if text else ""
            return replace(document, text=f"{described}{_FAILING_PROGRAM}")
        data, body = document.data, _body(document, function)
        start, end = self.docstring(document, function)
        documented, header = (start, end) if start < function.start else (function.start, function.start)
        margin = indentation(
            data[line_start(data, function.header) : function.end].decode("utf-8", "replace")
        )
        javadoc = ""
        if text:
            lines = textwrap.indent(_commentable(text), f"{margin} * ", lambda _line: True)
            javadoc = f"{margin}/**\n{lines}\n{margin} */\n{margin}"
            documented = line_start(data, documented)
            header = function.start
        first = body.named_children[0] if body.named_children else None
        kept = ""
        if first is not None and first.type == "explicit_constructor_invocation":
            kept = f"{margin}    {(first.text or b'').decode()}\n"
        parts = data[:documented].decode(), javadoc, data[header : body.start_byte].decode()
        hollowed = f"{{\n{kept}{margin}    {_FAILING}\n{margin}}}"
        return replace(document, text="".join(parts) + hollowed + data[function.end :].decode())

    def alone(self, text: str) -> str:
        return f"class Alone {{\n{text}\n}}\n"

    def stop(self, document: Document, function: Function, cut: int) -> Stop:
        """Like `PromptLanguage.stop`: after the brace that closes the method or the program."""
        if function.name == MODULE:
            return Stop(braces=open_braces(document.data[:cut].decode()) or None)
        body = _body(document, function)
        return Stop(braces=open_braces(document.data[body.start_byte : cut].decode()) or 1)

    def stand_ins(self, document: Document, function: Function) -> tuple[str, ...]:
        """Like `PromptLanguage.stand_ins`: an exception, and a wrong value of the return type.

        There is no value for `boolean`, because either one may be right. A program prints instead.
        """
        if function.name == MODULE:
            return _FAILING, "System.out.println(42);"
        result = definition_node(document, function).child_by_field_name("type")
        text = text_of(result) if result is not None else "void"
        if text in {"boolean", "Boolean"}:
            return (_FAILING,)
        if text == "void":
            return _FAILING, "return;"
        if text == "char":
            return _FAILING, "return '#';"
        numeric = result is not None and result.type in _NUMBERS
        return _FAILING, "return 42;" if numeric else "return null;"

    def emptied(self, rest: str, stand_in: str, stop: Stop) -> tuple[str, ...]:
        """Like `PromptLanguage.emptied`: all blocks are closed; some methods need the stand-in again."""
        margin, inner = indentation(rest), (stop.braces or 1) - 1
        begin = f"{margin}{stand_in}\n{margin}{'} ' * inner}"
        return f"{begin}}}", f"{begin}{stand_in} }}"

    def names(self, node: tree_sitter.Node, owners: set[str]) -> bool:
        """Like `PromptLanguage.names`: a variable or another class's method with the name does not count."""
        parent = node.parent
        if parent is None or parent.type not in _REFERENCED:
            return False
        if parent.type == "method_reference":
            return parent.named_children[-1] == node and text_of(parent.named_children[0]) in owners | _OWNERS
        if parent.child_by_field_name("name") != node:
            return False
        owner = parent.child_by_field_name("object")
        return owner is None or text_of(owner) in owners | _OWNERS


def _body(document: Document, function: Function) -> tree_sitter.Node:
    body = definition_node(document, function).child_by_field_name("body")
    assert body is not None  # `definition_node` finds no other
    return body


def _commentable(text: str) -> str:
    """A text that is valid in a comment: it neither ends the comment nor has invalid Unicode escapes."""
    return _NO_ESCAPE.sub(r"\\ \1", text.replace("*/", "* /"))


PROMPTS = JavaPrompts()
