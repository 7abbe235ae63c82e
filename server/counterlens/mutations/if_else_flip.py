"""`if-else-flip`: the branches of an if-else change places, the condition is negated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

import libcst as cst

from counterlens.mutations.base import Concept
from counterlens.mutations.conditions import Negation, complement, shown, wrap_in_not
from counterlens.mutations.edits import exchange
from counterlens.mutations.module import Module
from counterlens.mutations.mutation import Context, Example, Mutation, Refused, Site

Flavour = Literal["complement", "not"]


class IfElseFlip(Mutation):
    """Negate the condition of an `if` with an `else`, and exchange its branches.

    The flavour `complement` negates by complementary operators (`==` to `!=`, `<` to `>=`) and De Morgan's
    laws, and falls back to `not` where a part of the condition has no complement. The flavour `not` always
    writes `not`. What stands behind a colon, comments included, moves with its branch.
    """

    id = "if-else-flip"
    concept = Concept.CONTROL_FLOW
    source = "Hooda et al. 2024, section 3.3; Ahmed et al. 2024, section 3.1.2; Nguyen et al. 2024, Table 1"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="if a == b:\n    x = 1\nelse:\n    x = 2\n",
            after="if a != b:\n    x = 2\nelse:\n    x = 1\n",
        ),
        Example(
            before="if a < 0 and b is None:  # neither\n    pass\nelse:  # some\n    f()\n",
            after="if a >= 0 or b is not None:  # some\n    f()\nelse:  # neither\n    pass\n",
        ),
        Example(
            before="if a or b == 1 and c:\n    pass\nelse: f()\n",
            after="if not (a or b == 1 and c): f()\nelse:\n    pass\n",
        ),
        Example(
            before="if a:\n    x = 1\nelif b:\n    x = 2\nelse:\n    x = 3\n",
            after="if a:\n    x = 1\nelif not b:\n    x = 3\nelse:\n    x = 2\n",
            refused="elif",
        ),
        Example(before="if 0 < a < 9: x = 1\nelse: x = 2", after="if not (0 < a < 9): x = 2\nelse: x = 1"),
        Example(before="if a:\n    x = 1\n", refused="no else"),
    )

    def __init__(self, flavour: Flavour = "complement") -> None:
        self.flavour: Flavour = flavour

    def sites(self, context: Context) -> Iterator[Site | Refused]:
        for node in context.module.nodes(cst.If):
            yield self._site(context.module, node)

    def _site(self, module: Module, node: cst.If) -> Site | Refused:
        start, end = module.span(node)
        if isinstance(node.orelse, cst.If):
            return Refused(start, "an elif follows: exchanging the branches would need new nesting")
        if node.orelse is None:
            return Refused(start, "there is no else branch to exchange with")
        negation = self._negate(module, node.test)
        branches = module.suite(node.body), module.suite(node.orelse.body)
        return Site(
            span=(start, end),
            description=f"negated the condition `{shown(module, node.test)}` and exchanged its branches",
            edits=(*negation.edits, *exchange(*branches)),
            assumptions=negation.assumptions,
            cut=first_lines(module, node.body, node.orelse.body),
        )

    def _negate(self, module: Module, test: cst.BaseExpression) -> Negation:
        negation = complement(module, test) if self.flavour == "complement" else None
        return negation if negation is not None else wrap_in_not(module, test)


def first_lines(module: Module, then: cst.BaseSuite, other: cst.BaseSuite) -> tuple[int, int] | None:
    """Where the first lines of two indented bodies begin, behind their headers' newlines."""
    if isinstance(then, cst.IndentedBlock) and isinstance(other, cst.IndentedBlock):
        return module.end(then.header), module.end(other.header)
    return None
