"""The eight transformations of EMPICA (Nguyen et al. 2024, Table 1), each at all of its sites at once.

They are Counterlens's mutations, as in the paper's examples: conditions are negated by `not`, only an `if`
with its own `else` is flipped, variables are named `VAR1` and so on, any arithmetic operator may replace any
other, and the file is assumed to be the whole program.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from counterlens.mutations.mutation import Site, SiteRefused
from counterlens.mutations.transformation import Transformation
from counterlens.python.mutations.for_while_convert import ForWhileConvert
from counterlens.python.mutations.if_else_flip import IfElseFlip
from counterlens.python.mutations.mutation import PythonContext
from counterlens.python.mutations.negate_condition import NegateCondition
from counterlens.python.mutations.remove_conditional import RemoveConditional
from counterlens.python.mutations.remove_definition import RemoveDefinition
from counterlens.python.mutations.rename_generic import RenameGeneric
from counterlens.python.mutations.reorder_parameters import ReorderParameters
from counterlens.python.mutations.replace_arithmetic import ReplaceArithmetic


class ExplicitIfElseFlip(IfElseFlip):
    """Flip only an `if` with its own `else`, and negate by `not` (Nguyen et al. 2024, Table 1)."""

    def __init__(self) -> None:
        super().__init__("not")

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        for node in context.module.nodes(cst.If):
            if isinstance(node.orelse, cst.Else):
                yield self._site(context.module, node)


TRANSFORMATIONS = (
    Transformation("Convert For/While", "control", ForWhileConvert()),
    Transformation("Flip IfElse", "control", ExplicitIfElseFlip()),
    Transformation("Rename Variable", "data", RenameGeneric("VAR")),
    Transformation("Reorder Parameters", "data", ReorderParameters(whole_program=True)),
    Transformation("Negate Relational Condition", "control", NegateCondition("not")),
    Transformation("Remove Conditional Statement", "control", RemoveConditional()),
    Transformation("Replace Arithmetic Operator", "data", ReplaceArithmetic(across_precedence=True)),
    Transformation("Remove Def Statement", "data", RemoveDefinition()),
)
"""The operators in the order of the table: four that preserve the meaning, four that break it."""
