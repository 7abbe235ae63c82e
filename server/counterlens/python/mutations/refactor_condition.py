"""`refactor-condition`: assigns the condition of an `if` to a boolean variable before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import PURE_OPERATORS, Concept
from counterlens.mutations.edits import Edit, Slice
from counterlens.mutations.layout import put
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.mutations.names import numbered_names
from counterlens.python.mutations.acting_reads import TRUTH
from counterlens.python.mutations.conditions import quote
from counterlens.python.mutations.kinds import ValueKind
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.variables import ScopeKind

_NEED_PARENTHESES = (cst.Tuple, cst.Yield, cst.GeneratorExp)


class RefactorCondition(PythonMutation):
    """Assign the condition of an `if` to a new variable, and test the variable.

    `bool` converts a condition unless it consists of comparisons and `not`, combined by `and` and `or`.
    The condition is evaluated at the same moment as before. The mutation does not apply at the top level of
    modules and classes, because a new variable would be visible outside, nor to `elif`, which is evaluated
    later.
    """

    id = "refactor-condition"
    concept = Concept.CONTROL_FLOW
    source = "Ahmed et al. 2024, section 3.2.3"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            def f(a, b):
                # bigger
                if a > b:  # really
                    return a
                if(b):
                    return b
            """,
            after="""
            def f(a, b):
                # bigger
                condition = a > b
                if condition:  # really
                    return a
                condition = bool(b)
                if condition:
                    return b
            """,
        ),
        Example(
            before="def f(a):\n    if x := a():\n        return x\n",
            after="def f(a):\n    condition = bool(x := a())\n    if condition:\n        return x\n",
        ),
        Example(
            before="""
            def f(a):
                if a is None:
                    pass
                elif a:
                    pass
            """,
            after="""
            def f(a):
                condition = a is None
                if condition:
                    pass
                elif a:
                    pass
            """,
            refused="elif",
        ),
        Example(before="if a:\n    pass\n", refused="visible from outside"),
        Example(before="def f(a):\n    if a:\n        return locals()\n", refused="by name"),
    )

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        name = next(numbered_names(context.module, "condition", plain=True))
        for node in context.module.nodes(cst.If):
            yield self._site(context, node, name)

    def _site(self, context: PythonContext, node: cst.If, name: str) -> Site | SiteRefused:
        module = context.module
        start = module.start(node)
        if isinstance(module.parent(node), cst.If):
            return SiteRefused(
                start, "the condition of an elif is evaluated only if those before it are false"
            )
        scope = module.scope_of(node)
        if scope.kind is not ScopeKind.FUNCTION:
            return SiteRefused(start, "a new variable of a module or class would be visible from outside")
        before, after = "", ""
        if not _boolean(node.test):
            if context.module.scopes.hides("bool", scope):
                return SiteRefused(start, "`bool` may mean something else here")
            before, after = "bool(", ")"
        place = module.outer(node.test)
        again = (
            isinstance(node.test, cst.BooleanOperation)
            and context.effects.kinds.of(node.test) > ValueKind.ATOM
        )
        if again and context.effects.acting.runs(TRUTH, [node.test]):
            return SiteRefused(start, "a class of this file has side effects when it is tested")
        inner = module.span(node.test)
        hugged = (inner[0] - 1, inner[1] + 1) == place and not isinstance(node.test, _NEED_PARENTHESES)
        value = inner if before and hugged else place
        lead = f"{name} = {before}"
        follow = f"{after}{module.newline}{module.indentation(node)}"
        return Site(
            span=(start, module.end(node.test)),
            description=f"moved the condition `{quote(module, node.test)}` to the variable `{name}`",
            edits=(Edit(start, start, (lead, Slice(*value), follow)), put(module, place, name)),
            assumptions=(PURE_OPERATORS,) if again else (),
        )


def _boolean(test: cst.BaseExpression) -> bool:
    """Whether a condition is boolean by its syntax."""
    if isinstance(test, cst.BooleanOperation):
        return _boolean(test.left) and _boolean(test.right)
    if isinstance(test, cst.UnaryOperation):
        return isinstance(test.operator, cst.Not)
    return isinstance(test, cst.Comparison) or (
        isinstance(test, cst.Name) and test.value in {"True", "False"}
    )
