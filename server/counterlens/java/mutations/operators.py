"""`operand-swap` and `replace-arithmetic` for Java."""

from __future__ import annotations

import random
from typing import ClassVar

from tree_sitter import Node

from counterlens.java.mutations.effects import independent_in_java
from counterlens.java.mutations.flow import is_caught
from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.mutation import JavaContext, JavaMutation
from counterlens.java.mutations.static_types import operands
from counterlens.mutations.base import Concept
from counterlens.mutations.edits import Edit, Piece, Slice, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused

_REFLECTED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_COMMUTATIVE = {"+", "*", "&", "|", "^"}
_PRECEDENCE = [
    {"|"},
    {"^"},
    {"&"},
    {"==", "!="},
    {"<", ">", "<=", ">="},
    {"<<", ">>", ">>>"},
    {"+", "-"},
    {"*"},
]
_LOOSE = {"assignment_expression", "ternary_expression", "lambda_expression", "switch_expression"}
_OTHERS = {
    "+": ("-",),
    "-": ("+",),
    "*": ("/", "%"),
    "/": ("*", "%"),
    "%": ("*", "/"),
}
_NEUTRAL = {"+": "0", "-": "0", "*": "1", "/": "1"}


def precedence(operator: str) -> int:
    """The precedence of a binary operator; the larger, the tighter it binds."""
    for level, operators in enumerate(_PRECEDENCE):
        if operator in operators or (operator in "/%" and "*" in operators):
            return level
    return -1  # && and ||


class JavaOperandSwap(JavaMutation):
    """Write `a < b` as `b > a`, `a == b` as `b == a`, and `a + b` as `b + a` for integers.

    Java evaluates the left operand first, so the order of evaluation must not be observable. `+`, `*`, `&`,
    `|` and `^` commute for integers, including overflow, and `&`, `|` and `^` for Booleans; `+` on
    strings does not, so the types must be known. Sums and products of floating-point numbers are not changed.
    """

    id = "operand-swap"
    concept = Concept.DATA_FLOW
    source = "Ahmed et al. 2024, section 3.1.3"
    types = ("binary_expression",)
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="class A { boolean f(int a, long b, double c) { return a + b * 2 <= 1 == c < 2; } }",
            after="class A { boolean f(int a, long b, double c) { return 2 > c == 1 >= 2 * b + a; } }",
        ),
        Example(
            before="class A { String f(String a, int b) { return a + b; } }",
            refused="string concatenation is not commutative",
        ),
        Example(
            before="class A { boolean f(int a) { return g(a) == h(a) || a++ < a; } }",
            refused="both call unknown code",
        ),
        Example(before="class A { boolean f(int a) { return a++ < a; } }", refused="both touch `a`"),
        Example(before="class A { Object f(int a) { return g() + a; } }", refused="are unknown"),
        Example(before="class A { double f(double a) { return a * 2; } }", refused="not integers"),
    )

    def site(self, context: JavaContext, node: Node) -> Site | SiteRefused | None:
        module = context.module
        left, operator, right = operands(node)
        text = module.text(operator)
        if module.text(left) == module.text(right) or text not in _REFLECTED.keys() | _COMMUTATIVE:
            return None
        reason = _not_commutative(context, node) if text in _COMMUTATIVE else None
        if reason is not None:
            return SiteRefused(node.start_byte, reason)
        effects = context.effects
        verdict = independent_in_java(effects.of(left), effects.of(right), caught=is_caught(module, node))
        if verdict.reason is not None:
            return SiteRefused(node.start_byte, f"the operands: {verdict.reason}")
        new = _REFLECTED.get(text, text)
        edits = [
            Edit(
                left.start_byte,
                left.end_byte,
                _with_blank(module, left, _operand(module, right, new, first=True)),
            ),
            Edit(right.start_byte, right.end_byte, _with_blank(module, right, _operand(module, left, new))),
        ]
        if new != text:
            edits.append(replace(operator.start_byte, operator.end_byte, new))
        return Site(
            span=(node.start_byte, node.end_byte),
            description=f"swapped the operands of `{module.shown(node)}`",
            edits=tuple(edits),
            assumptions=verdict.assumptions,
        )


def _not_commutative(context: JavaContext, node: Node) -> str | None:
    """The reason why swapped operands may change an operator's result; None if they do not."""
    left, operator, right = operands(node)
    types, sides = context.types, (left, right)
    text = context.module.text(operator)
    if "String" in {types.of(side) for side in sides}:
        return "string concatenation is not commutative"
    if all(types.integral(side) for side in sides):
        return None
    if text in "&|^" and all(types.boolean(side) for side in sides):
        return None
    if all(types.numeric(side) for side in sides):
        return "the operands are not integers"
    return "the types of its operands are unknown"


def _operand(module: JavaModule, node: Node, operator: str, *, first: bool = False) -> tuple[Piece, ...]:
    """An operand of an operator, in parentheses where precedence requires them."""
    kept = Slice(node.start_byte, node.end_byte)
    if node.type == "binary_expression":
        inner = precedence(module.text(operands(node)[1]))
        around = precedence(operator)
        loose = inner < around or (inner == around and not first)
    else:
        loose = node.type in _LOOSE or (node.type in {"instanceof_expression", "cast_expression"} and first)
    return ("(", kept, ")") if loose else (kept,)


def _with_blank(module: JavaModule, place: Node, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Pieces, with a blank before them if the byte in front could join their first token: `+ +`, `- -`."""
    before = module.data[place.start_byte - 1 : place.start_byte]
    return (" ", *pieces) if before in b"+-<>&|" and before else pieces


class JavaReplaceArithmetic(JavaMutation):
    """Replace an arithmetic operator by another one of the same precedence, which breaks the program.

    The same precedence keeps the grouping around it. The seed chooses the operator. Both operands must be
    numbers by their types, because `+` on strings is not arithmetic.
    """

    id = "replace-arithmetic"
    concept = Concept.DATA_FLOW
    preserving = False
    source = "Nguyen et al. 2024, Table 1"
    types = ("binary_expression", "assignment_expression")
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="class A { int f(int a, double b) { a += 2; return a - (int) b; } }",
            after="class A { int f(int a, double b) { a -= 2; return a + (int) b; } }",
        ),
        Example(before="class A { String f(String a) { return a + 1; } }", refused="strings"),
        Example(before="class A { int f(int a) { return a + g(a); } }", refused="are unknown"),
        Example(before="class A { int f(int a) { return a + 0; } }", refused="the same value"),
    )

    def __init__(self, *, across_precedence: bool = False) -> None:
        """`across_precedence`: whether the new operator may have another precedence."""
        self.across_precedence = across_precedence

    def site(self, context: JavaContext, node: Node) -> Site | SiteRefused | None:
        module, types = context.module, context.types
        left, operator, right = operands(node)
        text = module.text(operator)
        ending = "=" if node.type == "assignment_expression" else ""
        plain = text.removesuffix(ending) if ending else text
        others = _OTHERS.get(plain)
        if others and self.across_precedence:
            others = tuple(other for other in _OTHERS if other != plain)
        if others is None or (ending and not text.endswith("=")):
            return None
        start, end = node.start_byte, node.end_byte
        if "String" in {types.of(left), types.of(right)}:
            return SiteRefused(start, "`+` on strings is not arithmetic")
        if not (types.numeric(left) and types.numeric(right)):
            return SiteRefused(start, "the types of its operands are unknown")
        chance = random.Random(repr((context.seed, self.id, module.text(node))))  # noqa: S311
        new = chance.choice(others)
        given = module.text(right)
        if given in {_NEUTRAL.get(text.removesuffix("=")), f"{_NEUTRAL.get(text)}.0"} and (
            _NEUTRAL.get(new) == given.removesuffix(".0")
        ):
            return SiteRefused(start, "the other operator has the same value")
        other = f"{new}{ending}"
        edit = replace(operator.start_byte, operator.end_byte, other)
        return Site((start, end), f"replaced the operator `{text}` by `{other}`", (edit,))
