"""`negate-condition`: negates the condition of an `if` and keeps its branches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import Concept
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.conditions import complement, quote, wrap_in_not
from counterlens.python.mutations.if_else_flip import Flavour
from counterlens.python.mutations.mutation import PythonContext, PythonMutation


class NegateCondition(PythonMutation):
    """Negate the condition of an `if` or `elif` without swapping the branches, which breaks the program.

    `NegateCondition("not")` always writes `not`, like `if-else-flip` in that flavour.
    """

    id = "negate-condition"
    concept = Concept.CONTROL_FLOW
    preserving = False
    source = "Nguyen et al. 2024, Table 1"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="if a < b and c is None:\n    f()\nelif(d):\n    g()\n",
            after="if a >= b or c is not None:\n    f()\nelif not (d):\n    g()\n",
        ),
        Example(before="if a:\n    f()\nelse:\n    f()\n", refused="do the same"),
    )

    def __init__(self, flavour: Flavour = "complement") -> None:
        self.flavour: Flavour = flavour

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        for node in module.nodes(cst.If):
            start = module.start(node)
            if same_branches(context, node):
                yield SiteRefused(start, "both branches do the same")
                continue
            negation = complement(module, node.test) if self.flavour == "complement" else None
            negation = negation or wrap_in_not(module, node.test)
            yield Site(
                span=(start, module.end(node.test)),
                description=f"negated the condition `{quote(module, node.test)}`",
                edits=negation.edits,
            )


def same_branches(context: PythonContext, node: cst.If) -> bool:
    """Whether both branches of an if-else have the same text except for blanks, so that either may run."""
    if not isinstance(node.orelse, cst.Else):
        return False
    module = context.module
    texts = (module.text(module.suite(branch)).split() for branch in (node.body, node.orelse.body))
    return next(texts) == next(texts)
