"""`replace-arithmetic`: an arithmetic operator becomes another one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import Concept
from counterlens.mutations.edits import replace
from counterlens.mutations.kinds import ValueKind
from counterlens.mutations.mutation import Example, Mutation, MutationContext, Site, SiteRefused

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
_NEUTRAL = {"+": "0", "-": "0", "*": "1", "/": "1", "//": "1"}


class ReplaceArithmetic(Mutation):
    """Replace an arithmetic operator by another one of the same precedence: breaks the program.

    So nothing around it is grouped in another way. The seed decides which one. Operators on strings and lists
    are not arithmetic.
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

    def sites(self, context: MutationContext) -> Iterator[Site | SiteRefused]:
        binary = context.module.nodes(cst.BinaryOperation)
        augmented = context.module.nodes(cst.AugAssign)
        for node in chain[cst.BinaryOperation | cst.AugAssign](binary, augmented):
            found = self._site(context, node)
            if found is not None:
                yield found

    def _site(
        self, context: MutationContext, node: cst.BinaryOperation | cst.AugAssign
    ) -> Site | SiteRefused | None:
        module = context.module
        others = _OTHERS.get(type(node.operator))
        if others is None:
            return None
        start, end = module.span(node)
        right = node.right if isinstance(node, cst.BinaryOperation) else node.value
        left = node.left if isinstance(node, cst.BinaryOperation) else node.target
        sides = [side for side in (left, right) if isinstance(side, cst.BaseExpression)]
        if any(context.effects.kinds.of(side) in {ValueKind.ATOM, ValueKind.CONTAINER} for side in sides):
            return SiteRefused(start, "the operands are not numbers")
        span = module.span(node.operator)
        old = module.text(span)
        chance = random.Random(repr((context.seed, self.id, module.text((start, end)))))  # noqa: S311
        new = chance.choice(others)
        value = right.value if isinstance(right, cst.Integer) else ""
        plain_old, plain_new = old.removesuffix("="), new.removesuffix("=")
        if value and _NEUTRAL.get(plain_old) == value == _NEUTRAL.get(plain_new):
            return SiteRefused(start, "the other operator gives the same value")
        return Site((start, end), f"replaced the operator `{old}` by `{new}`", (replace(*span, new),))
