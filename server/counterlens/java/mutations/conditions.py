"""Negation of a Java condition with as few changes as possible, and other helpers for conditions."""

from __future__ import annotations

from tree_sitter import Node

from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.mutation import JavaContext
from counterlens.java.mutations.static_types import operands
from counterlens.java.mutations.variables import JavaKind
from counterlens.mutations.edits import Edit, insert, replace
from counterlens.syntax.tree import descendants

_EQUALITY = {"==": "!=", "!=": "=="}
_ORDER = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_JUNCTIONS = {"&&": "||", "||": "&&"}
_TIGHT = {
    "identifier",
    "method_invocation",
    "field_access",
    "array_access",
    "parenthesized_expression",
    "true",
    "false",
}
"""Node types that bind at least as tightly as `!`, so they need no parentheses."""
_LITERALS = {
    "true", "false", "decimal_integer_literal", "hex_integer_literal", "character_literal",
    "string_literal", "decimal_floating_point_literal",
}  # fmt: skip


def condition_of(node: Node) -> Node:
    """The condition of an `if` or `while`, with its parentheses."""
    condition = node.child_by_field_name("condition")
    assert condition is not None, node.type
    return condition


def tested(node: Node) -> Node:
    """The condition of an `if` or `while`, without the parentheses that the statement requires."""
    return next(child for child in condition_of(node).named_children if not child.is_extra)


def negated(context: JavaContext, test: Node) -> tuple[Edit, ...]:
    """The edits that negate a condition exactly.

    Complementary operators and De Morgan's laws keep the order of evaluation and short circuits; `!` is used
    where a part has no complement: `a < b` has one for integers only, because with NaN neither `a < b`
    nor `a >= b` is true.
    """
    edits: list[Edit] = []
    if _complement(context, test, "", edits):
        return tuple(edits)
    return negated_as_a_whole(test)


def negated_as_a_whole(test: Node) -> tuple[Edit, ...]:
    """The edits that negate any condition by `!`."""
    if test.type in _TIGHT:
        return (insert(test.start_byte, "!"),)
    return insert(test.start_byte, "!("), Edit(test.end_byte, test.end_byte, (")",))


def _complement(context: JavaContext, node: Node, above: str, edits: list[Edit]) -> bool:
    if node.type == "parenthesized_expression":
        inner = [child for child in node.named_children if not child.is_extra]
        return len(inner) == 1 and _complement(context, inner[0], "", edits)
    if node.type == "unary_expression" and node.children[0].type == "!":
        return _without_not(node, edits)
    if node.type in _TIGHT:
        edits.append(insert(node.start_byte, "!"))
        return bool(above)  # a condition that is not part of a larger one is negated as a whole
    if node.type != "binary_expression":
        edits += negated_as_a_whole(node)
        return bool(above)
    left, operator, right = operands(node)
    text = context.module.text(operator)
    if text in _JUNCTIONS:
        left, operator, right = operands(node)
        becomes = _JUNCTIONS[context.module.text(operator)]
        edits.append(replace(operator.start_byte, operator.end_byte, becomes))
        # `a && b || c` groups by precedence; its negation needs parentheses for the same grouping.
        if above == "&&" and becomes == "||":
            edits += [insert(node.start_byte, "("), Edit(node.end_byte, node.end_byte, (")",))]
        return _complement(context, left, becomes, edits) and _complement(context, right, becomes, edits)
    other = _EQUALITY.get(text)
    if text in _ORDER and context.types.integral(left) and context.types.integral(right):
        other = _ORDER[text]
    if other is None:
        edits += negated_as_a_whole(node)
        return bool(above)
    edits.append(replace(operator.start_byte, operator.end_byte, other))
    return True


def _without_not(node: Node, edits: list[Edit]) -> bool:
    """`!x` becomes `x`; `!(a || b)` keeps its parentheses if it is part of a larger condition."""
    operand = node.child_by_field_name("operand")
    if operand is None:
        return False
    edits.append(replace(node.start_byte, operand.start_byte, ""))
    return True


def why_not_moved(context: JavaContext, test: Node) -> str | None:
    """The reason why a condition cannot be negated or removed: it binds variables by a pattern."""
    if any(_binds(context.module, node) for node in descendants(test)):
        return "its condition binds a variable by a pattern"
    return None


def assigns(context: JavaContext, test: Node) -> bool:
    """Whether a condition assigns a variable of the method."""
    return bool(context.effects.of(test).writes)


def is_constant(module: JavaModule, test: Node) -> bool:
    """Whether a condition may be constant, so that the compiler knows which branch runs."""
    leaves = [node for node in descendants(test) if not node.named_child_count and node.is_named]
    return all(leaf.type in _LITERALS or _is_constant_name(module, leaf) for leaf in leaves)


def _is_constant_name(module: JavaModule, leaf: Node) -> bool:
    """Whether a name may be constant: a final field or variable, or a name declared in another file."""
    if leaf.type != "identifier":
        return False
    variable = module.scopes.variable(leaf)
    if variable is not None:
        return _is_final(module, variable.declared)
    declared = module.declarators.get(module.text(leaf), [])
    return not declared or any(_is_final(module, name) for name in declared)


def _is_final(module: JavaModule, name: Node) -> bool:
    declaration = module.parent(module.parent(name))
    modifiers = (child for child in declaration.named_children if child.type == "modifiers")
    return any("final" in module.text(child).split() for child in modifiers)


def _binds(module: JavaModule, node: Node) -> bool:
    variable = module.scopes.variable(node)
    return variable is not None and variable.kind is JavaKind.PATTERN and variable.declared.id == node.id


def same_text(module: JavaModule, branch: Node, other: Node) -> bool:
    """Whether two branches have the same text except for blanks, so that either may run."""
    return module.text(branch).split() == module.text(other).split()
