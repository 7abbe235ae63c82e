"""`def-use-break` for Java: renames a variable from its second definition on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from tree_sitter import Node

from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.mutation import JavaContext, JavaMutation
from counterlens.java.mutations.variables import JavaKind, JavaVariable
from counterlens.mutations.base import Concept
from counterlens.mutations.edits import replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.mutations.names import FreshNames

_BLOCKS = {"block", "constructor_body"}


class JavaDefUseBreak(JavaMutation):
    """Declare a new variable for a later value of a variable, and use it from then on.

    `x = read(); x = clean(x); use(x);` becomes `x = read(); T y = clean(x); use(y);`. The assignment must be
    in the block that declares the variable (for a parameter, in the method's own block), so that it runs
    before all code after it.
    """

    id = "def-use-break"
    concept = Concept.DATA_FLOW
    source = "Hooda et al. 2024, section 3.3"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="class A { int f(int a) { a = g(a); while (a > 9) a--; return a; } }",
            after="class A { int f(int a) { int ygsit = g(a); while (ygsit > 9) ygsit--; return ygsit; } }",
        ),
        Example(
            before="class A { int f(int a) { if (a > 1) { a = 1; } return a; } }",
            refused="may be skipped",
        ),
        Example(before="class A { int f() { int a; a = 1; return a; } }", refused="no value before"),
        Example(before="class A { void f(int a) { a = 1; } }", refused="never used after it"),
    )

    def sites(self, context: JavaContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        for node in module.nodes("expression_statement"):
            assignment = node.named_children[0]
            left = assignment.child_by_field_name("left")
            operator = assignment.child_by_field_name("operator")
            if assignment.type != "assignment_expression" or left is None or operator is None:
                continue
            variable = module.scopes.variable(left)
            if variable is not None and module.text(operator) == "=":
                yield self._site(context, node, left, variable)

    def _site(
        self, context: JavaContext, node: Node, left: Node, variable: JavaVariable
    ) -> Site | SiteRefused:
        module = context.module
        later = [use for use in variable.uses if use.start_byte >= node.end_byte]
        reason = _why_not(module, node, variable, later)
        if reason is not None:
            return SiteRefused(node.start_byte, reason)
        around = module.function_at(node.start_byte)
        names = FreshNames(module, context.seed)
        new = names.draw(self.id, around.qualname if around else "", variable.name, module.text(node))
        edits = [replace(left.start_byte, left.end_byte, f"{variable.type} {new}")]
        edits += [replace(use.start_byte, use.end_byte, new) for use in later]
        return Site(
            span=(node.start_byte, later[-1].end_byte),
            description=f"renamed `{variable.name}` to `{new}` from its definition in this line on",
            edits=tuple(edits),
        )


def _why_not(module: JavaModule, node: Node, variable: JavaVariable, later: list[Node]) -> str | None:
    name = variable.name
    if variable.kind is JavaKind.LOCAL and variable.value is None:
        return f"`{name}` may have no value before"
    if not later:
        return f"`{name}` is never used after it"
    if variable.kind not in {JavaKind.LOCAL, JavaKind.PARAMETER} or not variable.type:
        return f"`{name}` is not declared with a type"
    if variable.in_class or variable.in_label:
        return f"`{name}` may mean something else in a class or a case"
    block = module.parent(node)
    if block.type not in _BLOCKS or block.id != _block_of(module, variable):
        return f"the definition of `{name}` may be skipped before its later uses"
    return None


def _block_of(module: JavaModule, variable: JavaVariable) -> int:
    """Node id of the block that declares a variable; for a parameter, of the method's body."""
    if variable.kind is JavaKind.LOCAL:
        return module.parent(module.parent(module.parent(variable.declared))).id
    for above in module.ancestors(variable.declared):
        body = above.child_by_field_name("body")
        if body is not None:
            return body.id
    return 0
