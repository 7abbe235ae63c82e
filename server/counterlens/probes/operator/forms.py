"""The construct of a swap's operator: the swaps of Ahmed et al. 2024, and ours.

They swap the branches of if-else (sections 3.1.2 and 4.1) and the operands of conditions, in both with one of
six comparisons. They keep operands without calls, and a call beside a constant: two that are neither may have
effects on each other (section 4.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import tree_sitter

from counterlens.syntax.document import Document
from counterlens.syntax.operators import Family, OperatorSite


class SwapForm(StrEnum):
    """The construct that the operator of a swap decides."""

    IF_ELSE = "if-else"
    ELIF = "elif chain"  # an `if` with an `elif`, or an `elif`
    GUARD = "guard"  # no else branch: the body always leaves
    CONDITION = "condition"  # of an `if`, `elif` or `while`, or joined to one by `and`, `or`, `not`
    CALLS = "condition with calls"  # operands that the paper discards
    ELSEWHERE = "elsewhere"


_PUBLISHED = frozenset({SwapForm.IF_ELSE, SwapForm.CONDITION})
"""Those of the paper."""
_IFS = frozenset({"if_statement", "elif_clause"})
_JOINED = frozenset({"boolean_operator", "not_operator", "parenthesized_expression"})
_CONSTANTS = frozenset(
    {"integer", "float", "string", "concatenated_string", "true", "false", "none", "ellipsis"}
)
_CALLS = frozenset({"call", "await", "yield", "named_expression"})


def is_published(form: SwapForm | None, family: Family) -> bool:
    """Whether the paper has such a swap."""
    return form in _PUBLISHED and family is Family.COMPARISON


def form_of_branches(document: Document, site: OperatorSite) -> SwapForm | None:
    """The form of the `if` whose condition an operator of Python is in; None if it is in none."""
    node: tree_sitter.Node | None = _operation(document, site)
    while node is not None and not (node.type in _IFS and _in_condition(node, site)):
        node = node.parent
    if node is None:
        return None
    kinds = {child.type for child in node.children}
    if node.type == "elif_clause" or "elif_clause" in kinds:
        return SwapForm.ELIF
    return SwapForm.IF_ELSE if "else_clause" in kinds else SwapForm.GUARD


def form_of_operands(document: Document, site: OperatorSite) -> SwapForm:
    """The construct of a Python comparison whose operands change places."""
    operation = _operation(document, site)
    node: tree_sitter.Node | None = operation
    while node is not None and node.parent is not None and node.parent.type in _JOINED:
        node = node.parent
    around = node.parent if node is not None else None
    if around is None or around.type not in _IFS | {"while_statement"}:
        return SwapForm.ELSEWHERE
    if not _in_condition(around, site):
        return SwapForm.ELSEWHERE
    operands = operation.named_children if operation is not None else []
    calling = [any(inside.type in _CALLS for inside in _all(operand)) for operand in operands]
    constant = [all(leaf.type in _CONSTANTS for leaf in _values(operand)) for operand in operands]
    discarded = any(calls and not all(constant[:i] + constant[i + 1 :]) for i, calls in enumerate(calling))
    return SwapForm.CALLS if discarded else SwapForm.CONDITION


def _operation(document: Document, site: OperatorSite) -> tree_sitter.Node | None:
    """The node of the operands and the operator."""
    return document.tree.root_node.named_descendant_for_byte_range(*site.span)


def _in_condition(node: tree_sitter.Node, site: OperatorSite) -> bool:
    condition = node.child_by_field_name("condition")
    return condition is not None and condition.start_byte <= site.start < condition.end_byte


def _all(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    yield node
    for child in node.children:
        yield from _all(child)


def _values(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The parts of an operand: strings whole, parentheses and operators aside."""
    if node.type in _CONSTANTS or not node.named_children:
        yield node
        return
    for child in node.named_children:
        yield from _values(child)
