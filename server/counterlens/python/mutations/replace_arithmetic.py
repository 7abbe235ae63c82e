"""`replace-arithmetic`: replaces an arithmetic operator by another one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import Concept
from counterlens.mutations.edits import replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.kinds import ValueKind
from counterlens.python.mutations.mutation import PythonContext, PythonMutation

_OTHERS: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.Add: ("-",),
    cst.Subtract: ("+",),
    cst.Multiply: ("/", "//", "%"),
    cst.Divide: ("*", "//", "%"),
    cst.FloorDivide: ("*", "/", "%"),
    cst.Modulo: ("*", "/", "//"),
    cst.AddAssign: ("-=",),
    cst.SubtractAssign: ("+=",),
    cst.MultiplyAssign: ("//=", "%="),
    cst.DivideAssign: ("*=", "//="),
    cst.FloorDivideAssign: ("*=", "%="),
    cst.ModuloAssign: ("*=", "//="),
}
_ANY = ("+", "-", "*", "/", "%", "//")
_NEUTRAL = {"+": "0", "-": "0", "*": "1", "/": "1", "//": "1"}


class ReplaceArithmetic(PythonMutation):
    """Replace an arithmetic operator by another one of the same precedence, which breaks the program.

    The grouping around it therefore stays the same. The seed chooses the operator. Operators on strings and
    lists are not arithmetic.

    `ReplaceArithmetic(across_precedence=True)` takes any other one, as in the paper's example, `a % b` for
    `a + b`; the grouping around it may then change.
    """

    id = "replace-arithmetic"
    concept = Concept.DATA_FLOW
    preserving = False
    source = "Nguyen et al. 2024, Table 1"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="def f(a, b):\n    a += 2\n    return a - b\n",
            after="def f(a, b):\n    a -= 2\n    return a + b\n",
        ),
        Example(before="x = 'a' + y\n", refused="not numbers"),
        Example(before="x = y + 0\n", refused="same value"),
    )

    def __init__(self, *, across_precedence: bool = False) -> None:
        """`across_precedence`: whether the new operator may have another precedence."""
        self.across_precedence = across_precedence

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        binary = context.module.nodes(cst.BinaryOperation)
        augmented = context.module.nodes(cst.AugAssign)
        for node in chain[cst.BinaryOperation | cst.AugAssign](binary, augmented):
            site = self._site(context, node)
            if site is not None:
                yield site

    def _site(
        self, context: PythonContext, node: cst.BinaryOperation | cst.AugAssign
    ) -> Site | SiteRefused | None:
        module = context.module
        span = module.span(node.operator)
        old = module.text(span)
        others = self._others(node, old)
        if not others:
            return None
        start, end = module.span(node)
        right = node.right if isinstance(node, cst.BinaryOperation) else node.value
        left = node.left if isinstance(node, cst.BinaryOperation) else node.target
        sides = [side for side in (left, right) if isinstance(side, cst.BaseExpression)]
        if any(context.effects.kinds.of(side) in {ValueKind.ATOM, ValueKind.CONTAINER} for side in sides):
            return SiteRefused(start, "the operands are not numbers")
        chance = random.Random(repr((context.seed, self.id, module.text((start, end)))))  # noqa: S311
        if self.across_precedence and _neutral(right, old):
            others = tuple(other for other in others if not _neutral(right, other))
        new = chance.choice(others)
        if _neutral(right, old) and _neutral(right, new):
            return SiteRefused(start, "the other operator has the same value")
        return Site((start, end), f"replaced the operator `{old}` by `{new}`", (replace(*span, new),))

    def _others(self, node: cst.BinaryOperation | cst.AugAssign, old: str) -> tuple[str, ...]:
        """The replacements of an operator; none if it is not arithmetic."""
        others = _OTHERS.get(type(node.operator), ())
        power = isinstance(node.operator, cst.Power | cst.PowerAssign)
        if not self.across_precedence or not (others or power):
            return others
        ending = "=" if isinstance(node, cst.AugAssign) else ""
        return tuple(f"{other}{ending}" for other in _ANY if f"{other}{ending}" != old)


def _neutral(right: cst.BaseExpression, operator: str) -> bool:
    """Whether the result of an operator equals its left operand: `x + 0`, `x * 1`."""
    return isinstance(right, cst.Integer) and _NEUTRAL.get(operator.removesuffix("=")) == right.value
