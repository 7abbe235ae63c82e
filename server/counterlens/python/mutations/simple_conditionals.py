"""The mutations of an `if` that leave its branches in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import PURE_OPERATORS, Concept
from counterlens.mutations.edits import Edit, Slice, dedenting, exchange, put, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.mutations.parsed import numbered_names
from counterlens.python.mutations.acting_reads import TRUTH
from counterlens.python.mutations.if_else_flip import Flavour, complement, wrap_in_not
from counterlens.python.mutations.kinds import ValueKind
from counterlens.python.mutations.module import Module, block_indent
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.variables import ScopeKind

_NEED_PARENTHESES = (cst.Tuple, cst.Yield, cst.GeneratorExp)


@dataclass(eq=False)
class NegateCondition(PythonMutation):
    """Negate the condition of an `if` or `elif` without swapping the branches, which breaks the program.

    `NegateCondition("not")` always writes `not`, like `if-else-flip` in that flavour.
    """

    id = "negate-condition"
    concept = Concept.CONTROL_FLOW
    preserving = False
    source = "Nguyen et al. 2024, Table 1"
    types = (cst.If,)
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="if a < b and c is None:\n    f()\nelif(d):\n    g()\n",
            after="if a >= b or c is not None:\n    f()\nelif not (d):\n    g()\n",
        ),
        Example(before="if a:\n    f()\nelse:\n    f()\n", refused="do the same"),
    )

    flavour: Flavour = "complement"

    def site(self, context: PythonContext, node: cst.If) -> Site | SiteRefused:
        module = context.module
        start = module.start(node)
        if same_branches(context, node):
            return SiteRefused(start, "both branches do the same")
        negation = complement(module, node.test) if self.flavour == "complement" else None
        negation = negation or wrap_in_not(module, node.test)
        return Site(
            span=(start, module.end(node.test)),
            description=f"negated the condition `{module.shown(node.test)}`",
            edits=negation.edits,
        )


def same_branches(context: PythonContext, node: cst.If) -> bool:
    """Whether both branches of an if-else have the same text except for blanks, so that either may run."""
    if not isinstance(node.orelse, cst.Else):
        return False
    module = context.module
    texts = (module.text(module.suite(branch)).split() for branch in (node.body, node.orelse.body))
    return next(texts) == next(texts)


class RemoveConditional(PythonMutation):
    """Remove an `if` without `else`, so that its body always runs, which breaks the program."""

    id = "remove-conditional"
    concept = Concept.CONTROL_FLOW
    preserving = False
    source = "Nguyen et al. 2024, Table 1"
    types = (cst.If,)
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before='''
            def f(a):
                # here
                if a:  # there
                    g()
                    for x in a:
                        h("""
                        text""")
                return a
            ''',
            after='''
            def f(a):
                # here
                g()
                for x in a:
                    h("""
                        text""")
                return a
            ''',
        ),
        Example(before="if a: f()\n", after="f()\n"),
        Example(before="if a:\n    f()\nelse:\n    g()\n", refused="another branch"),
        Example(before="if a:\n    f()\nelif b:\n    g()\n", refused="another branch"),
        Example(before="if x := a():\n    f(x)\n", refused="binds a name"),
    )

    def site(self, context: PythonContext, node: cst.If) -> Site | SiteRefused:
        module = context.module
        start, end = module.span(node)
        if node.orelse is not None or isinstance(module.parent(node), cst.If):
            return SiteRefused(start, "there is another branch")
        if context.effects.of(node.test).writes:
            return SiteRefused(start, "the condition binds a name that the body may need")
        description = f"removed the condition `{module.shown(node.test)}`; the guarded code stays"
        return Site((start, end), description, tuple(_unguard(module, node)))


def _unguard(module: Module, node: cst.If) -> list[Edit]:
    start = module.start(node)
    body = node.body
    if not isinstance(body, cst.IndentedBlock):
        return [replace(start, module.start(cst.ensure_type(body, cst.SimpleStatementSuite).body[0]), "")]
    first = module.end(body.header)
    indented = len(module.data[first:]) - len(module.data[first:].lstrip(b" \t\f"))
    base = module.indentation(node)
    end = module.suite(body)[1]
    lines = dedenting(module, first, end, base, block_indent(module, body))
    return [replace(start, first + indented, ""), *(edit for edit in lines if edit.start >= first + indented)]


class BlockSwapPlain(PythonMutation):
    """Swap the branches of an `if` with an `else` without negating its condition, which breaks the program.

    The result is closer to the original's text than that of `if-else-flip`, and farther from its meaning.
    """

    id = "block-swap-plain"
    concept = Concept.CONTROL_FLOW
    preserving = False
    source = "Ahmed et al. 2024, Table 6"
    types = (cst.If,)
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="if a:\n    f()\nelse:\n    g()\n",
            after="if a:\n    g()\nelse:\n    f()\n",
        ),
        Example(before="if a:\n    f()\n", refused="no else"),
        Example(before="if a:\n    f()\nelse:\n    f()\n", refused="do the same"),
    )

    def site(self, context: PythonContext, node: cst.If) -> Site | SiteRefused:
        module = context.module
        start, end = module.span(node)
        if not isinstance(node.orelse, cst.Else):
            return SiteRefused(start, "there is no else branch to swap with")
        if same_branches(context, node):
            return SiteRefused(start, "both branches do the same")
        return Site(
            span=(start, end),
            description="swapped the branches and kept the condition",
            edits=exchange(module.suite(node.body), module.suite(node.orelse.body)),
        )


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
            description=f"moved the condition `{module.shown(node.test)}` to the variable `{name}`",
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
