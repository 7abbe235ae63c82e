"""`independent-swap`: swaps two adjacent statements that do not depend on each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import Concept, Independence
from counterlens.mutations.edits import exchange
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.effect_rules import EffectAnalysis
from counterlens.python.mutations.independence import independent
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.mutation import PythonContext, PythonMutation


class IndependentSwap(PythonMutation):
    """Swap two adjacent, independent statements of a function.

    Two statements are independent if neither binds a variable that the other one uses, neither may jump away,
    at most one calls unknown code, and neither can use an object that the other changes. A compound statement
    (a whole loop) counts as one. Comments move with their statement.
    """

    id = "independent-swap"
    concept = Concept.CONTROL_FLOW
    source = "Hooda et al. 2024, section 3.3"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            def f(n):
                low = 0  # from
                # the end
                high = n
                return g(low, high)
            """,
            after="""
            def f(n):
                # the end
                high = n
                low = 0  # from
                return g(low, high)
            """,
            refused="both touch `high`",
        ),
        Example(before="def f(n):\n    a = n\n    b = a\n", refused="both touch `a`"),
        Example(before="def f():\n    g()\n    h()\n", refused="both call unknown code"),
        Example(before="def f(a, b):\n    a[0] = 1\n    x = b[0]\n", refused="changes an object"),
        Example(
            before="""
            def f(a):
                try:
                    x = 1
                    y = a[0]
                except IndexError:
                    return x
            """,
            refused="may raise",
        ),
    )

    def __init__(self, reach: int = 1) -> None:
        """`reach`: maximum distance of the two, in statements; all between must be independent of both."""
        self.reach = reach

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        effects = context.effects
        blocks: Sequence[cst.Module | cst.IndentedBlock] = [*module.nodes(cst.IndentedBlock)]
        if self.whole_program:
            blocks = [module.tree, *blocks]
        for block in blocks:
            inside = self.whole_program or module.function_at(module.start(block)) is not None
            if isinstance(module.parent(block), cst.ClassDef) or not inside:
                continue
            body = [statement for statement in block.body if not _is_plain(statement)]
            caught = is_caught(module, block)
            for index in range(len(body)):
                for other in range(index + 1, min(index + 1 + self.reach, len(body))):
                    site = self._pair(module, effects, body[index : other + 1], caught)
                    if site is not None:
                        yield site

    def _pair(
        self, module: Module, effects: EffectAnalysis, run: Sequence[cst.CSTNode], caught: bool
    ) -> Site | SiteRefused | None:
        first, last = run[0], run[-1]
        first_span, two = region(module, first), region(module, last)
        if module.text(first_span) == module.text(two):
            return None
        checks = [(first, last), *((first, mid) for mid in run[1:-1]), *((mid, last) for mid in run[1:-1])]
        assumed: set[str] = set()
        for a, b in checks:
            verdict: Independence = independent(effects.of(a), effects.of(b), caught=caught)
            if verdict.reason is not None:
                return SiteRefused(module.start(first), f"the statement and the next: {verdict.reason}")
            assumed.update(verdict.assumptions)
        lines = module.line(module.start(first)), module.line(module.start(last))
        return Site(
            span=(first_span[0], two[1]),
            description=f"swapped the independent statements of lines {lines[0]} and {lines[1]}",
            edits=exchange(first_span, two),
            assumptions=tuple(sorted(assumed)),
            whole=True,
        )


def is_caught(module: Module, node: cst.CSTNode) -> bool:
    """Whether the function around a node may continue after an exception in it."""
    for above in module.ancestors(node):
        if isinstance(above, cst.Try | cst.TryStar | cst.With):
            return True
        if isinstance(above, cst.FunctionDef | cst.Lambda | cst.ClassDef):
            return False
    return False


def region(module: Module, statement: cst.CSTNode) -> tuple[int, int]:
    """The byte range of a statement with the comments directly above and after it, without indentation.

    The newline at its end is excluded.
    """
    decorators = getattr(statement, "decorators", ())
    start = module.start(decorators[0] if decorators else statement)
    for line in reversed(getattr(statement, "leading_lines", ())):
        if line.comment is None or module.indentation(line.comment) != module.indentation(statement):
            break
        start = module.start(line.comment)
    return start, module.without_newline(module.statement_end(statement))


def _is_plain(statement: cst.CSTNode) -> bool:
    """Whether a statement is a docstring, a `pass` or an ellipsis, so that moving it is pointless."""
    return isinstance(statement, cst.SimpleStatementLine) and all(
        isinstance(small, cst.Pass)
        or (isinstance(small, cst.Expr) and isinstance(small.value, cst.BaseString | cst.Ellipsis))
        for small in statement.body
    )
