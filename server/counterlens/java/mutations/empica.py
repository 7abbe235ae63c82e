"""The transformation operators of EMPICA (Nguyen et al. 2024, Table 1) for Java, whose examples are Java."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.java.mutations.if_else_flip import JavaIfElseFlip
from counterlens.java.mutations.loops import JavaForWhileConvert
from counterlens.java.mutations.mutation import JavaContext
from counterlens.java.mutations.operators import JavaReplaceArithmetic
from counterlens.java.mutations.rename import JavaRenameGeneric
from counterlens.java.mutations.reorder_parameters import JavaReorderParameters
from counterlens.java.mutations.simple_conditionals import JavaNegateCondition, JavaRemoveConditional
from counterlens.java.mutations.statements import JavaRemoveDefinition
from counterlens.mutations.mutation import Site, SiteRefused
from counterlens.mutations.transformation import Transformation


class ExplicitJavaIfElseFlip(JavaIfElseFlip):
    """Flip only an `if` with its own `else`, and negate by `!` (Nguyen et al. 2024, Table 1)."""

    def __init__(self) -> None:
        super().__init__(by_not=True)

    def sites(self, context: JavaContext) -> Iterator[Site | SiteRefused]:
        for node in context.module.nodes("if_statement"):
            other = node.child_by_field_name("alternative")
            if other is not None and other.type != "if_statement":
                yield self._site(context, node)


JAVA_TRANSFORMATIONS = (
    Transformation("Convert For/While", "control", JavaForWhileConvert()),
    Transformation("Flip IfElse", "control", ExplicitJavaIfElseFlip()),
    Transformation("Rename Variable", "data", JavaRenameGeneric("VAR")),
    Transformation("Reorder Parameters", "data", JavaReorderParameters(whole_program=True)),
    Transformation("Negate Relational Condition", "control", JavaNegateCondition(by_not=True)),
    Transformation("Remove Conditional Statement", "control", JavaRemoveConditional()),
    Transformation("Replace Arithmetic Operator", "data", JavaReplaceArithmetic(across_precedence=True)),
    Transformation("Remove Def Statement", "data", JavaRemoveDefinition()),
)
"""The operators in the order of the table, like `empica.TRANSFORMATIONS`."""
