"""The node types of Python that distinguish the forms of swaps."""

from __future__ import annotations

import tree_sitter

from counterlens.probes.operator.forms import FormKinds


def _else(node: tree_sitter.Node) -> tree_sitter.Node | None:
    return next((child for child in node.children if child.type == "else_clause"), None)


def _elif(node: tree_sitter.Node) -> bool:
    return node.type == "elif_clause" or any(child.type == "elif_clause" for child in node.children)


SWAPS = FormKinds(
    ifs=frozenset({"if_statement", "elif_clause"}),
    loops=frozenset({"while_statement"}),
    joined=frozenset({"boolean_operator", "not_operator", "parenthesized_expression"}),
    constants=frozenset(
        {"integer", "float", "string", "concatenated_string", "true", "false", "none", "ellipsis"}
    ),
    calls=frozenset({"call", "await", "yield", "named_expression"}),
    alternative=_else,
    chained=_elif,
)
