"""The construct of a swap's operator: the swaps of Ahmed et al. 2024, and ours.

The paper swaps the branches of if-else (sections 3.1.2 and 4.1) and the operands of conditions, both with one
of six comparisons. It keeps operands without calls, and a call beside a constant: others may have side
effects on each other (section 4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import tree_sitter

from counterlens.languages.part import LanguagePart
from counterlens.syntax.document import Document
from counterlens.syntax.operators import Family, OperatorSite

_JOINING = frozenset({"&&", "||", "!"})
"""Operators that join or negate conditions, for languages in which all operators have one node type."""


class SwapForm(StrEnum):
    """The construct that the operator of a swap decides."""

    IF_ELSE = "if-else"
    ELIF = "elif chain"  # an `if` with an `elif`, or an `elif`
    GUARD = "guard"  # no else branch: the body always exits
    CONDITION = "condition"  # in the condition of an `if`, `elif` or `while`, also below `and`, `or`, `not`
    CALLS = "condition with calls"  # operands that the paper discards
    ELSEWHERE = "elsewhere"


_PUBLISHED = frozenset({SwapForm.IF_ELSE, SwapForm.CONDITION})
"""The forms of the paper."""


@dataclass(frozen=True, slots=True)
class FormKinds:
    """The node types that distinguish the forms of one language.

    Attributes:
        ifs: An `if`, and a branch of one with its own condition.
        loops: Loops with a condition.
        joined: Expressions that join conditions, or wrap one.
        constants: Literals.
        calls: Expressions that run code elsewhere, or assign.
        alternative: The branch that runs if the condition is false: a node in an `if`.
        chained: A further branch with a condition, in an `if`.
    """

    ifs: frozenset[str]
    loops: frozenset[str]
    joined: frozenset[str]
    constants: frozenset[str]
    calls: frozenset[str]
    alternative: Callable[[tree_sitter.Node], tree_sitter.Node | None]
    chained: Callable[[tree_sitter.Node], bool]


SWAPS: LanguagePart[FormKinds] = LanguagePart("swaps", FormKinds)
"""The node types by language."""


def is_published(form: SwapForm | None, family: Family) -> bool:
    """Whether the paper has such a swap."""
    return form in _PUBLISHED and family is Family.COMPARISON


def form_of_branches(document: Document, site: OperatorSite) -> SwapForm | None:
    """The form of the `if` whose condition contains an operator; None if there is none."""
    kinds, node = SWAPS.require(document.language), _operation(document, site)
    while node is not None and not (node.type in kinds.ifs and _in_condition(node, site)):
        node = node.parent
    if node is None:
        return None
    if kinds.chained(node):
        return SwapForm.ELIF
    return SwapForm.IF_ELSE if kinds.alternative(node) is not None else SwapForm.GUARD


def form_of_operands(document: Document, site: OperatorSite) -> SwapForm:
    """The construct of a comparison whose operands are swapped."""
    kinds, operation = SWAPS.require(document.language), _operation(document, site)
    node = operation
    while node is not None and node.parent is not None and _joins(node.parent, kinds):
        node = node.parent
    around = node.parent if node is not None else None
    if around is None or around.type not in kinds.ifs | kinds.loops:
        return SwapForm.ELSEWHERE
    if not _in_condition(around, site):
        return SwapForm.ELSEWHERE
    operands = operation.named_children if operation is not None else []
    calling = [any(inside.type in kinds.calls for inside in _all(operand)) for operand in operands]
    constant = [
        all(leaf.type in kinds.constants for leaf in _values(operand, kinds.constants))
        for operand in operands
    ]
    discarded = any(calls and not all(constant[:i] + constant[i + 1 :]) for i, calls in enumerate(calling))
    return SwapForm.CALLS if discarded else SwapForm.CONDITION


def _operation(document: Document, site: OperatorSite) -> tree_sitter.Node | None:
    """The node that contains the operands and the operator."""
    return document.tree.root_node.named_descendant_for_byte_range(*site.span)


def _joins(node: tree_sitter.Node, kinds: FormKinds) -> bool:
    """Whether a node joins conditions, negates one or wraps it."""
    operator = node.child_by_field_name("operator")
    plain = operator is None or operator.type in _JOINING or node.type.endswith("_operator")
    return node.type in kinds.joined and plain


def _in_condition(node: tree_sitter.Node, site: OperatorSite) -> bool:
    condition = node.child_by_field_name("condition")
    return condition is not None and condition.start_byte <= site.start < condition.end_byte


def _all(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    yield node
    for child in node.children:
        yield from _all(child)


def _values(node: tree_sitter.Node, constants: frozenset[str]) -> Iterator[tree_sitter.Node]:
    """The parts of an operand without parentheses and operators; a string is one part."""
    if node.type in constants or not node.named_children:
        yield node
        return
    for child in node.named_children:
        yield from _values(child, constants)
