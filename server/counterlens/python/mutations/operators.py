"""`operand-swap` and `replace-arithmetic`."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import REFLECTED, Concept
from counterlens.mutations.edits import moved_to, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.acting_reads import COMPARISON
from counterlens.python.mutations.kinds import ValueKind
from counterlens.python.mutations.module import in_format_string
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.statements import independent, is_caught

_REFLECTED: dict[type[cst.BaseCompOp], str] = {
    cst.LessThan: ">",
    cst.GreaterThan: "<",
    cst.LessThanEqual: ">=",
    cst.GreaterThanEqual: "<=",
    cst.Equal: "==",
    cst.NotEqual: "!=",
}
_BUILT_IN = (cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.ConcatenatedString)
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


class OperandSwap(PythonMutation):
    """Write `a < b` as `b > a`, and `a == b` as `b == a`.

    The mutation applies only if the order of evaluation of the operands has no effect. Chains (`a < b < c`)
    are not changed.
    """

    id = "operand-swap"
    concept = Concept.DATA_FLOW
    source = "Ahmed et al. 2024, section 3.1.3"
    types = (cst.Comparison,)
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="def f(a, b):\n    return a + 1 <= b or (a == b) != True\n",
            after="def f(a, b):\n    return b >= a + 1 or True != (b == a)\n",
        ),
        Example(before="def f(a): return-a<2if a else 0\n", after="def f(a): return 2>-a if a else 0\n"),
        Example(before="def f(a): return 0 < a < 9\n", refused="chain"),
        Example(before="def f(a): return g(a) == h(a)\n", refused="both call"),
        Example(before="def f(a): return (b := a) == b\n", refused="both touch `b`"),
        Example(before="def f(a): return f'{a == 1}'\n", refused="f-string"),
    )

    def site(self, context: PythonContext, node: cst.Comparison) -> Site | SiteRefused | None:
        module, effects = context.module, context.effects
        target = node.comparisons[0]
        operator = _REFLECTED.get(type(target.operator))
        start, end = module.span(node)
        if len(node.comparisons) > 1:
            return SiteRefused(start, "a chain of comparisons evaluates its operands in order")
        if operator is None:
            return None
        left, right = node.left, target.comparator
        places = module.outer(left), module.outer(right)
        if module.text(places[0]) == module.text(places[1]):
            return None
        if in_format_string(module, node):
            return SiteRefused(start, "it is inside an f-string")
        verdict = independent(effects.of(left), effects.of(right), caught=is_caught(module, node))
        if verdict.reason is not None:
            return SiteRefused(start, f"the operands: {verdict.reason}")
        if effects.acting.runs(COMPARISON, [left, right]):
            return SiteRefused(start, "a comparison of a class of this file has side effects")
        assumed = set(verdict.assumptions)
        builtin_comparison = any(isinstance(side, _BUILT_IN) for side in (left, right)) or all(
            effects.kinds.of(side) <= ValueKind.ATOM for side in (left, right)
        )
        if not builtin_comparison:
            assumed.add(REFLECTED)
        edits = [moved_to(module, places[0], places[1]), moved_to(module, places[1], places[0])]
        if operator != module.text(module.span(target.operator)):
            edits.append(replace(*module.span(target.operator), operator))
        return Site(
            span=(start, end),
            description=f"swapped the operands of `{module.shown(node)}`",
            edits=tuple(edits),
            assumptions=tuple(sorted(assumed)),
        )


@dataclass(eq=False)
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
    types = (cst.BinaryOperation, cst.AugAssign)
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="def f(a, b):\n    a += 2\n    return a - b\n",
            after="def f(a, b):\n    a -= 2\n    return a + b\n",
        ),
        Example(before="x = 'a' + y\n", refused="not numbers"),
        Example(before="x = y + 0\n", refused="same value"),
    )

    across_precedence: bool = field(default=False, kw_only=True)
    """Whether the new operator may have another precedence."""

    def site(
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
