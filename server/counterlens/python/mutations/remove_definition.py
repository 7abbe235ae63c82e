"""`remove-definition`: removes an assignment although its variable is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import Concept
from counterlens.mutations.edits import replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.variables import Role


class RemoveDefinition(PythonMutation):
    """Remove the assignment of a function's variable that is used later, which breaks the program."""

    id = "remove-definition"
    concept = Concept.DATA_FLOW
    preserving = False
    source = "Nguyen et al. 2024, Table 1"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="def f():\n    x = 10  # ten\n    return x + 1\n",
            after="def f():\n    return x + 1\n",
        ),
        Example(
            before="def f(a):\n    if a:\n        x = 10\n    return x\n",
            after="def f(a):\n    if a:\n        pass\n    return x\n",
        ),
        Example(before="def f():\n    x = 1\n", refused="never used"),
        Example(before="def f():\n    x = 1; return x\n", refused="shares its line"),
    )

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        for node in context.module.nodes(cst.Assign):
            site = self._site(context, node)
            if site is not None:
                yield site

    def _site(self, context: PythonContext, node: cst.Assign) -> Site | SiteRefused | None:
        module = context.module
        target = node.targets[0].target
        variable = module.scopes.variable(target)
        if len(node.targets) != 1 or variable is None or not variable.scope.is_function:
            return None
        start, end = module.span(node)
        if Role.DECLARE in variable.roles:
            return SiteRefused(start, f"a `nonlocal` needs a definition of `{variable.name}`")
        uses = [module.start(o.node) for o in variable.occurrences if o.role is Role.USE]
        if all(start <= use < end for use in uses):
            return SiteRefused(start, f"`{variable.name}` is never used")
        line = module.parent(node)
        block = module.parent(line)
        alone = isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1
        if not alone or not isinstance(block, cst.IndentedBlock):
            return SiteRefused(start, "the assignment shares its line with other code")
        if block.body[0] is line and all(map(_is_assignment, block.body)):
            edit = replace(start, end, "pass")
        else:
            edit = replace(module.line_start(start), module.statement_end(line), "")
        return Site((start, end), f"removed the definition of `{variable.name}`", (edit,))


def _is_assignment(statement: cst.BaseStatement) -> bool:
    """Whether a line is an assignment; a block with only assignments keeps a `pass` in their place."""
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], cst.Assign)
