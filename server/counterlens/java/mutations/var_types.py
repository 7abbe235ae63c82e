"""`var-types` for Java: replaces the declared type of a variable by `var`, or the reverse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from tree_sitter import Node

from counterlens.java.mutations.mutation import JavaContext, JavaMutation
from counterlens.java.mutations.static_types import UNKNOWN, element_of
from counterlens.java.mutations.variables import compact
from counterlens.mutations.base import Concept
from counterlens.mutations.edits import replace
from counterlens.mutations.mutation import Example, Site, SiteRefused

_NO_TYPE = {"array_initializer", "lambda_expression", "method_reference", "null_literal"}


class JavaVarTypes(JavaMutation):
    """Write `var` for the declared type of a local variable that has the type of its value, or the reverse.

    Java's counterpart of removing annotations: the program stays the same, but readers see less of the types,
    or more. The source must show that the value has exactly the declared type; needs Java 10.
    """

    id = "var-types"
    concept = Concept.TYPES
    source = "Hooda et al. 2024, section 3.3, which name the concept and leave it out"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="class A { void f(String s) { int n = 0; for (char c : s.toCharArray()) n += c; } }",
            after="class A { void f(String s) { var n = 0; for (var c : s.toCharArray()) n += c; } }",
        ),
        Example(
            before="class A { void f(int n) { final var m = n * 2L; } }",
            after="class A { void f(int n) { final long m = n * 2L; } }",
        ),
        Example(before="class A { void f(int n) { long m = n; } }", refused="another type, or one"),
        Example(before="class A { void f(int n) { int a = 1, b = 2; } }", refused="several variables"),
        Example(
            before="class A { void f(int n) { int[] a = {1}; int b; } }", refused="depends on the declaration"
        ),
    )

    def sites(self, context: JavaContext) -> Iterator[Site | SiteRefused]:
        for node in context.module.nodes("local_variable_declaration"):
            declarators = node.children_by_field_name("declarator")
            if len(declarators) > 1:
                yield SiteRefused(node.start_byte, "it declares several variables")
                continue
            value = declarators[0].child_by_field_name("value")
            if value is not None and declarators[0].child_by_field_name("dimensions") is None:
                yield self._site(context, node, value, context.types.of(value))
        for node in context.module.nodes("enhanced_for_statement"):
            value = node.child_by_field_name("value")
            if value is not None:
                yield self._site(context, node, value, element_of(context.types.of(value)))

    def _site(self, context: JavaContext, node: Node, value: Node, inferred: str) -> Site | SiteRefused:
        module, declared = context.module, node.child_by_field_name("type")
        start = node.start_byte
        if value.type in _NO_TYPE or declared is None:
            return SiteRefused(start, "the type of its value depends on the declaration")
        written = compact(module.text(declared))
        if inferred in {UNKNOWN, "null"} or written not in {"var", inferred}:
            return SiteRefused(start, "its value has another type, or one that the source does not show")
        names = (child for child in (node, *node.children_by_field_name("declarator")))
        name = next(
            identifier for part in names if (identifier := part.child_by_field_name("name")) is not None
        )
        variable = module.scopes.variable(name)
        inside = range(value.start_byte, value.end_byte)
        if variable is None or any(use.start_byte in inside for use in variable.uses):
            return SiteRefused(start, "its value uses the variable itself")
        new = inferred if written == "var" else "var"
        return Site(
            span=(start, value.end_byte),
            description=f"replaced the type of `{variable.name}` by `{new}`",
            edits=(replace(declared.start_byte, declared.end_byte, new),),
        )
