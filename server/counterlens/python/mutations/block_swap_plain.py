"""`block-swap-plain`: swaps the branches of an if-else and keeps the condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import Concept
from counterlens.mutations.edits import exchange
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.negate_condition import same_branches


class BlockSwapPlain(PythonMutation):
    """Swap the branches of an `if` with an `else` without negating its condition, which breaks the program.

    The result is closer to the original's text than that of `if-else-flip`, and farther from its meaning.
    """

    id = "block-swap-plain"
    concept = Concept.CONTROL_FLOW
    preserving = False
    source = "Ahmed et al. 2024, Table 6"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="if a:\n    f()\nelse:\n    g()\n",
            after="if a:\n    g()\nelse:\n    f()\n",
        ),
        Example(before="if a:\n    f()\n", refused="no else"),
        Example(before="if a:\n    f()\nelse:\n    f()\n", refused="do the same"),
    )

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        for node in module.nodes(cst.If):
            start, end = module.span(node)
            if not isinstance(node.orelse, cst.Else):
                yield SiteRefused(start, "there is no else branch to swap with")
            elif same_branches(context, node):
                yield SiteRefused(start, "both branches do the same")
            else:
                yield Site(
                    span=(start, end),
                    description="swapped the branches and kept the condition",
                    edits=exchange(module.suite(node.body), module.suite(node.orelse.body)),
                )
