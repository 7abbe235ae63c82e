"""`operand-swap`: swaps the operands of a comparison and mirrors its operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import REFLECTED, Concept
from counterlens.mutations.edits import replace
from counterlens.mutations.layout import moved_to
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.acting_reads import COMPARISON
from counterlens.python.mutations.conditions import quote
from counterlens.python.mutations.independence import independent
from counterlens.python.mutations.independent_swap import is_caught
from counterlens.python.mutations.kinds import ValueKind
from counterlens.python.mutations.layout import in_format_string
from counterlens.python.mutations.mutation import PythonContext, PythonMutation

_REFLECTED: dict[type[cst.BaseCompOp], str] = {
    cst.LessThan: ">",
    cst.GreaterThan: "<",
    cst.LessThanEqual: ">=",
    cst.GreaterThanEqual: "<=",
    cst.Equal: "==",
    cst.NotEqual: "!=",
}
_BUILT_IN = (cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.ConcatenatedString)


class OperandSwap(PythonMutation):
    """Write `a < b` as `b > a`, and `a == b` as `b == a`.

    The mutation applies only if the order of evaluation of the operands has no effect. Chains (`a < b < c`)
    are not changed.
    """

    id = "operand-swap"
    concept = Concept.DATA_FLOW
    source = "Ahmed et al. 2024, section 3.1.3"
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

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        for node in context.module.nodes(cst.Comparison):
            site = self._site(context, node)
            if site is not None:
                yield site

    def _site(self, context: PythonContext, node: cst.Comparison) -> Site | SiteRefused | None:
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
        known = any(isinstance(side, _BUILT_IN) for side in (left, right)) or all(
            effects.kinds.of(side) <= ValueKind.ATOM for side in (left, right)
        )
        if not known:
            assumed.add(REFLECTED)
        edits = [moved_to(module, places[0], places[1]), moved_to(module, places[1], places[0])]
        if operator != module.text(module.span(target.operator)):
            edits.append(replace(*module.span(target.operator), operator))
        return Site(
            span=(start, end),
            description=f"swapped the operands of `{quote(module, node)}`",
            edits=tuple(edits),
            assumptions=tuple(sorted(assumed)),
        )
