"""Changes to Java statements after which the following text can stay unchanged."""

from __future__ import annotations

from tree_sitter import Node

from counterlens.dependence.braces.reading import without_brackets
from counterlens.dependence.braces.statements import for_parts
from counterlens.java.examined.parts import span_of
from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.intervention import Intervention
from counterlens.probes.dependence.parts import Part, StatementEdits
from counterlens.syntax.definitions import text_of

_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_TIGHT = frozenset({"identifier", "method_invocation", "field_access", "array_access", "true", "false"})
_DECIDING = frozenset({"if_statement", "while_statement", "for_statement", "enhanced_for_statement"})


def negate(subject: ExaminedFunction, part: Part) -> StatementEdits:
    """Negate a condition; make a loop over elements empty."""
    node = part.node
    if not isinstance(node, Node) or node.type not in _DECIDING:
        return
    if node.type == "enhanced_for_statement":
        value = node.child_by_field_name("value")
        if value is not None:
            yield span_of(value, subject.starts), "List.of()"
        return
    test = for_parts(node)[1] if node.type == "for_statement" else node.child_by_field_name("condition")
    if test is not None:
        inner = without_brackets(test)
        yield span_of(inner, subject.starts), negated(inner)


def neutralise(_subject: ExaminedFunction, part: Part) -> StatementEdits:
    """Replace a branch's header by one that decides nothing."""
    if isinstance(part.node, Node) and part.node.type in _DECIDING:
        yield part.span, "synchronized (lock)"


def negated(test: Node) -> str:
    """The source of the negation of a condition; comparisons with NaN aside."""
    text = text_of(test)
    if test.type == "unary_expression" and text_of(test.child_by_field_name("operator")) == "!":
        operand = test.child_by_field_name("operand")
        return text_of(None if operand is None else without_brackets(operand))
    opposite = _OPPOSITE.get(text_of(test.child_by_field_name("operator")))
    if test.type == "binary_expression" and opposite is not None:
        left, right = (text_of(test.child_by_field_name(side)) for side in ("left", "right"))
        return f"{left} {opposite} {right}"
    return f"!{text}" if test.type in _TIGHT else f"!({text})"


INTERVENTIONS = {
    Intervention.NEGATE: negate,
    Intervention.NEUTRALISE: neutralise,
}
