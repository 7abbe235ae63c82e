"""Which nodes are statements and definitions: by the names that tree-sitter grammars share.

Grammars call them `if_statement`, `class_declaration`, `function_definition`, `function_item`; so this holds
for languages that nobody has written a table for. The few that differ are listed.
"""

from __future__ import annotations

import tree_sitter

_STATEMENTS = ("_statement", "_declaration", "_definition", "_item")
_ALSO_STATEMENTS = frozenset(
    {
        "class_static_block",
        "enum_constant",
        "explicit_constructor_invocation",
        "package_clause",
        "static_initializer",
        "switch_default",
    }
)
_NO_STATEMENTS = frozenset({"with_item", "parameter_declaration", "variadic_parameter_declaration"})

_DEFINITIONS = ("_definition", "_declaration", "_item")
_NO_DEFINITIONS = ("import", "package", "lexical_", "variable_", "field_", "using_", "with_", "use_", "const")
_WRAPPERS = frozenset(
    {
        *("export_statement", "expression_statement", "lexical_declaration", "variable_declaration"),
        *("variable_declarator", "assignment_expression"),
    }
)
_VALUES = frozenset(
    {"arrow_function", "function_expression", "generator_function", "class", "function", "lambda_expression"}
)


def is_statement(kind: str) -> bool:
    """Whether a node type is a statement, a definition or a declaration."""
    return (kind.endswith(_STATEMENTS) and kind not in _NO_STATEMENTS) or kind in _ALSO_STATEMENTS


def in_loop_header(kind: str, parent: str, *, last: bool) -> bool:
    """Whether a statement is a part of its loop's header: `int i = 0;` in `for (int i = 0; ...)`.

    Args:
        kind: The node type.
        parent: Its parent's.
        last: Whether it ends where its parent does, as a loop's body does.
    """
    return is_statement(kind) and (parent == "for_clause" or (parent == "for_statement" and not last))


def is_definition(node: tree_sitter.Node) -> bool:
    """Whether a node defines a function, a method or a type, also by assigning one or exporting it."""
    if node.type in _WRAPPERS:
        return any(child.type in _VALUES or is_definition(child) for child in node.named_children)
    return node.type.endswith(_DEFINITIONS) and not node.type.startswith(_NO_DEFINITIONS)
