"""The node types of Java that distinguish the forms of swaps."""

from __future__ import annotations

import tree_sitter

from counterlens.probes.operator.forms import FormKinds


def _else(node: tree_sitter.Node) -> tree_sitter.Node | None:
    return node.child_by_field_name("alternative")


def _else_if(node: tree_sitter.Node) -> bool:
    branch, around = _else(node), node.parent
    within = around is not None and around.type == "if_statement" and _else(around) == node
    return within or (branch is not None and branch.type == "if_statement")


SWAPS = FormKinds(
    ifs=frozenset({"if_statement"}),
    loops=frozenset({"while_statement", "do_statement", "for_statement"}),
    joined=frozenset({"binary_expression", "unary_expression", "parenthesized_expression"}),
    constants=frozenset(
        {
            *("decimal_integer_literal", "hex_integer_literal", "octal_integer_literal"),
            *("binary_integer_literal", "decimal_floating_point_literal", "character_literal"),
            *("string_literal", "true", "false", "null_literal"),
        }
    ),
    calls=frozenset(
        {
            *("method_invocation", "object_creation_expression", "assignment_expression"),
            "update_expression",
        }
    ),
    alternative=_else,
    chained=_else_if,
)
