"""Negation of a condition with as few changes as possible."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from counterlens.mutations.base import EQ_NE_CONSISTENT, TOTAL_ORDER
from counterlens.mutations.edits import Edit, insert, is_word, replace
from counterlens.python.mutations.acting_reads import COMPARISON, acting_reads
from counterlens.python.mutations.module import Module

_COMPLEMENTS: dict[type[cst.BaseCompOp], tuple[str, str | None]] = {
    cst.Is: ("is not", None),
    cst.IsNot: ("is", None),
    cst.In: ("not in", None),
    cst.NotIn: ("in", None),
    cst.Equal: ("!=", EQ_NE_CONSISTENT),
    cst.NotEqual: ("==", EQ_NE_CONSISTENT),
    cst.LessThan: (">=", TOTAL_ORDER),
    cst.GreaterThanEqual: ("<", TOTAL_ORDER),
    cst.GreaterThan: ("<=", TOTAL_ORDER),
    cst.LessThanEqual: (">", TOTAL_ORDER),
}
_NAN = {"nan", "NaN", "NAN", "isnan"}
_ORDERED = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
_EXACT_VALUES = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString, cst.Integer)
# Expressions that need no parentheses after `not`, because they bind more tightly.
_TIGHT = (
    cst.Name,
    cst.Call,
    cst.Attribute,
    cst.Subscript,
    cst.Await,
    cst.Integer,
    cst.Float,
    cst.SimpleString,
)


@dataclass(frozen=True, slots=True)
class Negation:
    """The edits that negate a condition, and their assumptions."""

    edits: tuple[Edit, ...]
    assumptions: tuple[str, ...]


def complement(module: Module, test: cst.BaseExpression) -> Negation | None:
    """Negate by complementary operators and De Morgan's laws; None if a leaf has no complement.

    Evaluation order and short circuits are kept: the negation of `a and b` is `not a or not b`, which
    evaluates `b` in the same cases.
    """
    edits: list[Edit] = []
    assumed: set[str] = set()
    if not _negate(module, test, None, edits, assumed):
        return None
    return Negation(tuple(edits), tuple(sorted(assumed)))


def compares(test: cst.BaseExpression) -> bool:
    """Whether a condition is a comparison, or comparisons joined by `and`, `or` and `not`."""
    if isinstance(test, cst.BooleanOperation):
        return compares(test.left) and compares(test.right)
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return compares(test.expression)
    return isinstance(test, cst.Comparison)


def wrap_in_not(module: Module, test: cst.BaseExpression) -> Negation:
    """Negate by `not`, with parentheses if precedence requires them."""
    start, end = module.outer(test)
    before = "" if module.data[start - 1 : start] in (b" ", b"\t", b"(", b"\f") else " "
    if test.lpar or isinstance(test, _TIGHT):
        return Negation((insert(start, f"{before}not "),), ())
    after = module.data[end : end + 1]
    assert after, "a condition is never the last token of a file"
    return Negation((insert(start, f"{before}not ("), Edit(end, end, (")",))), ())


def _negate(
    module: Module,
    node: cst.BaseExpression,
    above: type[cst.BaseBooleanOp] | None,
    edits: list[Edit],
    assumed: set[str],
) -> bool:
    if isinstance(node, cst.Comparison):
        return _negate_comparison(module, node, edits, assumed)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        return _drop_not(module, node, above, edits)
    if isinstance(node, cst.BooleanOperation):
        is_and = isinstance(node.operator, cst.And)
        becomes = cst.Or if is_and else cst.And
        edits.append(replace(*module.span(node.operator), "or" if is_and else "and"))
        # `a and b or c` groups by precedence; its negation needs parentheses for the same grouping.
        if above is cst.And and becomes is cst.Or and not node.lpar:
            start, end = module.span(node)
            edits += [insert(start, "("), insert(end, ")")]
        return _negate(module, node.left, becomes, edits, assumed) and _negate(
            module, node.right, becomes, edits, assumed
        )
    return False


def _negate_comparison(module: Module, node: cst.Comparison, edits: list[Edit], assumed: set[str]) -> bool:
    if len(node.comparisons) != 1:
        return False  # `a < b < c` evaluates b once; operators alone cannot express its negation
    target = node.comparisons[0]
    operator = target.operator
    if type(operator) not in _COMPLEMENTS:
        return False
    text, assumption = _COMPLEMENTS[type(operator)]
    sides = (node.left, target.comparator)
    # values may be partially ordered: a side visibly is, or the file mentions NaN
    partial = bool(_NAN & module.words) or any(map(_visibly_partial, sides))
    if isinstance(operator, _ORDERED) and partial:
        return False
    if assumption and acting_reads(module).runs(COMPARISON, sides):
        return False  # the complement is another method, with other effects
    exact = isinstance(operator, cst.Equal | cst.NotEqual) and all(
        isinstance(s, _EXACT_VALUES) for s in sides
    )
    if assumption and not exact:
        assumed.add(assumption)
    start, end = module.span(operator)
    if text[0].isalpha() or text == "in":
        before = " " if is_word(module.data[start - 1 : start]) and text[0].isalpha() else ""
        text = before + text
    edits.append(replace(start, end, text))
    return True


def _drop_not(
    module: Module, node: cst.UnaryOperation, above: type[cst.BaseBooleanOp] | None, edits: list[Edit]
) -> bool:
    """`not x` becomes `x`."""
    operand = node.expression
    loose = isinstance(operand, cst.BooleanOperation | cst.IfExp | cst.Lambda | cst.NamedExpr)
    if loose and not operand.lpar and above is not None:
        return False
    start = module.start(node)
    end = module.outer(operand)[0]
    edits.append(replace(start, end, ""))
    return True


def _visibly_partial(node: cst.BaseExpression) -> bool:
    """Whether a value visibly belongs to a partially ordered class: a set, or NaN."""
    if isinstance(node, cst.Set | cst.SetComp):
        return True
    if isinstance(node, cst.Attribute):
        return node.attr.value.lower() == "nan"
    if isinstance(node, cst.Name):
        return node.value.lower() == "nan"
    if isinstance(node, cst.Call):
        called = node.func.value if isinstance(node.func, cst.Name) else ""
        return called in {"set", "frozenset", "float"} or (
            isinstance(node.func, cst.Attribute)
            and node.func.attr.value
            in {"keys", "items", "union", "intersection", "difference", "symmetric_difference"}
        )
    if isinstance(node, cst.BinaryOperation):
        return _visibly_partial(node.left) or _visibly_partial(node.right)
    return False


def quote(module: Module, node: cst.BaseExpression, limit: int = 60) -> str:
    """An expression as quoted in a description: on one line, at most `limit` characters."""
    text = " ".join(module.text(module.span(node)).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
