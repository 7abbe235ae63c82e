"""Statements and definitions in a tree, found by names that tree-sitter grammars share.

Grammars name them `if_statement`, `class_declaration`, `function_definition`, `function_item`; these rules
therefore also work for languages without a table. The few exceptions are listed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import tree_sitter

_STATEMENTS = ("_statement", "_declaration", "_definition", "_item")
_ALSO_STATEMENTS = frozenset(
    {
        "class_specifier",
        "class_static_block",
        "declaration",
        "enum_constant",
        "enum_variant",
        "enumerator",
        "explicit_constructor_invocation",
        "for_range_loop",
        "match_arm",
        "package_clause",
        *("preproc_call", "preproc_def", "preproc_function_def", "preproc_include"),
        *("preproc_elif", "preproc_elifdef", "preproc_else", "preproc_if", "preproc_ifdef"),
        "static_initializer",
        "switch_default",
        "using_directive",
    }
)
_NO_STATEMENTS = ("with_item", "parameter_declaration", "catch_declaration", "compound_statement")

_DECLARING = frozenset(
    {
        *("event_field_declaration", "field_declaration", "fixed_statement", "local_declaration_statement"),
        "using_statement",
    }
)

_DEFINITIONS = ("_definition", "_declaration", "_item")
_NO_DEFINITIONS = (
    *("import", "package", "lexical_", "variable_", "field_", "using_", "with_", "use_", "const", "static_"),
    *("attribute_", "inner_attribute_", "extern_", "file_scoped_", "enum_member_"),
)
_IMPORTS = ("import", "future_import", "package_", "use_declaration", "using_directive", "preproc_include")
_SPECIFIERS = frozenset({"class_specifier", "enum_specifier", "struct_specifier", "union_specifier"})
"""Types of C and C++: definitions if they have a body, else mere references."""
_WRAPPERS = frozenset(
    {
        *("export_statement", "expression_statement", "lexical_declaration", "variable_declaration"),
        *("variable_declarator", "assignment_expression"),
    }
)
_VALUES = frozenset(
    {"arrow_function", "function_expression", "generator_function", "class", "function", "lambda_expression"}
)
_TEXTS = frozenset({"string", "concatenated_string", "string_literal"})
_KEYWORD = re.compile(rb"\w+\s*[:{]|[{};]")
_COMMENT = re.compile(rb"(?m)^\s*(#|//).*$")


def is_statement(kind: str) -> bool:
    """Whether a node type is a statement, a definition or a declaration."""
    return (kind.endswith(_STATEMENTS) and not kind.endswith(_NO_STATEMENTS)) or kind in _ALSO_STATEMENTS


def is_part_of_statement(kind: str, parent: str, *, last: bool) -> bool:
    """Whether a statement is part of the statement around it: `int i = 0;` in `for (int i = 0; ...)`.

    C#'s `int i = 0` without its `;` is another such part.

    Args:
        kind: The node type.
        parent: The node type of its parent.
        last: Whether it ends with its parent, as a loop's body does.
    """
    if kind == "variable_declaration" and parent in _DECLARING:
        return True
    return is_statement(kind) and (parent == "for_clause" or (parent == "for_statement" and not last))


def is_definition(node: tree_sitter.Node) -> bool:
    """Whether a node defines a function, a method or a type, or assigns or exports such a definition."""
    if node.type in _SPECIFIERS:
        return node.child_by_field_name("body") is not None
    if node.type in _WRAPPERS:
        return any(child.type in _VALUES or is_definition(child) for child in node.named_children)
    return defines(node.type)


def defines(kind: str) -> bool:
    """Whether a node type is a definition of a function, a method or a type."""
    return kind.endswith(_DEFINITIONS) and not kind.startswith(_NO_DEFINITIONS)


def imports(kind: str) -> bool:
    """Whether a node type makes names of other files known, or names the package of this one."""
    return kind.startswith(_IMPORTS)


class StatementPart(NamedTuple):
    """A simple statement, or the header of a compound one or of one of its clauses.

    Attributes:
        start: The offset of its first byte.
        end: The offset after its last.
        kind: The node type; for an expression statement, that of its expression.
    """

    start: int
    end: int
    kind: str


def statement_parts(root: tree_sitter.Node, data: bytes, start: int, end: int) -> list[StatementPart]:
    """The parts of the statements that begin in a byte range, in order, without overlap.

    Left out are comments, statements of only a string, and clauses of only a keyword, such as `else:`.
    """
    owners = _owners(root, start, end)
    parts: list[StatementPart] = []
    for i, (first, last, kind) in enumerate(owners):
        # a part ends where the next one begins: the body of a compound statement, or its next clause
        until = min([last, *(begin for begin, _, _ in owners[i + 1 : i + 2] if begin < last)])
        code = _COMMENT.sub(b"", data[first:until]).rstrip() if kind != "comment" else b""
        if start <= first and code and kind not in _TEXTS and not _KEYWORD.fullmatch(code):
            parts.append(StatementPart(first, min(first + len(data[first:until].rstrip()), end), kind))
    return parts


def _owners(root: tree_sitter.Node, start: int, end: int) -> list[tuple[int, int, str]]:
    """The statements and clauses that touch a byte range, in order, outer ones first: range and node type."""
    owners: list[tuple[int, int, str]] = []
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if node.end_byte <= start or node.start_byte >= end:
            continue
        parent = node.parent
        part = parent is not None and is_part_of_statement(
            node.type, parent.type, last=node.end_byte == parent.end_byte
        )
        named = node.named_children
        clause = node.type.endswith("_clause") and any(
            child.type.endswith(("block", "_statement")) for child in named
        )
        if clause or (is_statement(node.type) and not part):
            inner = named[0] if node.type == "expression_statement" and named else node
            owners.append((node.start_byte, node.end_byte, inner.type))
        nodes += reversed(node.children)
    return owners


class Definition(NamedTuple):
    """A function, a method or a type, with its decorators, or with the export or assignment around it.

    Attributes:
        name: Its name after those of the definitions around it, such as `Stack.push`; empty if it has none.
        start: The offset of its first byte.
        end: The offset after its last byte.
    """

    name: str
    start: int
    end: int


def definition_at(root: tree_sitter.Node, data: bytes, offset: int) -> Definition | None:
    """The innermost definition with a body around a byte offset; None if there is none.

    An offset in a line's indentation counts as the end of the indentation. The offset directly after a
    definition counts as inside it, because a cursor at its end is there.
    """
    line = data.rfind(b"\n", 0, offset) + 1
    if not data[line:offset].strip(b" \t"):
        offset += len(data[offset:]) - len(data[offset:].lstrip(b" \t"))
    around = [_innermost(root, at) for at in (offset, offset - 1) if at >= 0]
    return min(filter(None, around), key=lambda definition: definition.end - definition.start, default=None)


def _innermost(root: tree_sitter.Node, offset: int) -> Definition | None:
    definition: Definition | None = None
    names: list[str] = []
    outer: tree_sitter.Node | None = None  # the node that wraps the next definition
    cursor = root.walk()
    while cursor.goto_first_child_for_byte(offset) is not None:
        node = cursor.node
        if node is None or not node.start_byte <= offset < node.end_byte:
            break
        if node.type == "decorator" and outer is not None:  # it belongs to the definition beside it, if any
            inner = outer.child_by_field_name("definition")
            node = inner if inner is not None else node
        if node.type in _WRAPPERS or node.type == "decorated_definition":
            outer = outer or node
        elif node.child_by_field_name("body") is not None and (
            is_definition(node) or (outer is not None and node.type in _VALUES)
        ):
            names += [name] if (name := _name_of(node, outer)) else []
            whole = outer or node
            definition, outer = Definition(".".join(names), whole.start_byte, whole.end_byte), None
        else:
            outer = None
    return definition


def _name_of(node: tree_sitter.Node, wrapper: tree_sitter.Node | None) -> str:
    """A definition's own name, or the assigned one: `f` in `module.exports.f = function () { }`."""
    own = node.child_by_field_name("name")
    while own is None and wrapper is not None and wrapper != node:
        own = wrapper.child_by_field_name("name") or wrapper.child_by_field_name("left")
        wrapper = next((child for child in wrapper.named_children if child.end_byte >= node.end_byte), None)
    text = own.text.decode("utf-8", "replace") if own is not None and own.text is not None else ""
    return text.rpartition(".")[2]
