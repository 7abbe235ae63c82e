"""`reorder-parameters` and the mutations of declared types for Java."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import ClassVar

from tree_sitter import Node

from counterlens.java.mutations.effects import independent_in_java
from counterlens.java.mutations.flow import is_caught
from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.mutation import JavaContext, JavaMutation
from counterlens.java.mutations.static_types import UNKNOWN, element_of
from counterlens.java.mutations.variables import compact
from counterlens.mutations.base import WHOLE_PROGRAM, Concept
from counterlens.mutations.edits import Edit, Slice, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused

_NO_TYPE = {"array_initializer", "lambda_expression", "method_reference", "null_literal"}


class JavaReorderParameters(JavaMutation):
    """Reverse the parameters of a private method, and the arguments of all of its calls.

    All calls must be known: the method is private and has no overload, nothing refers to it without calling
    it, and every call is by its name alone or on `this`. The arguments must be independent, because Java
    evaluates them from left to right.
    """

    id = "reorder-parameters"
    concept = Concept.DATA_FLOW
    source = "Nguyen et al. 2024, Table 1"
    types = ("method_declaration",)
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="class A { private int g(int a, char b) { return a; } int f = g(g(1, 'x'), 'y'); }",
            after="class A { private int g(char b, int a) { return a; } int f = g('y', g('x', 1)); }",
        ),
        Example(before="class A { int f(int a, int b) { return a; } }", refused="other classes may call it"),
        Example(before="class A { private int f(int a) { return a; } }", refused="fewer than two parameters"),
        Example(
            before="class A { private int g(int a, int b) { return a; } int f(A c) { return c.g(1, 2); } }",
            refused="called on an object",
        ),
        Example(
            before="class A { private int g(int a, int b) { return a; } Op f() { return this::g; } }",
            refused="without being called",
        ),
        Example(
            before="class A { private int g(int a, int b) { return a; } int f(int c) { return g(c++, c); } }",
            refused="both touch `c`",
        ),
    )

    def __init__(self, *, whole_program: bool = False) -> None:
        """`whole_program`: whether no code outside the file calls its methods, private or not."""
        self.whole_program = whole_program

    def site(self, context: JavaContext, node: Node) -> Site | SiteRefused:
        module = context.module
        parameters = _listed_nodes(node.child_by_field_name("parameters"))
        if len(parameters) < 2:
            return SiteRefused(node.start_byte, "it has fewer than two parameters")
        modifiers = [child for child in node.named_children if child.type == "modifiers"]
        words = {word for child in modifiers for word in module.text(child).split()}
        if "private" not in words and (not self.whole_program or "@Override" in words):
            return SiteRefused(node.start_byte, "other classes may call it")
        name = node.child_by_field_name("name")
        calls = _calls(module, node, module.text(name) if name is not None else "", parameters)
        if isinstance(calls, str):
            return SiteRefused(node.start_byte, calls)
        assumed = set() if "private" in words else {WHOLE_PROGRAM}
        for call, given in calls:
            for first, second in combinations(given, 2):
                verdict = independent_in_java(
                    context.effects.of(first), context.effects.of(second), caught=is_caught(module, call)
                )
                if verdict.reason is not None:
                    line = module.line(call.start_byte)
                    return SiteRefused(node.start_byte, f"line {line}: the arguments: {verdict.reason}")
                assumed |= set(verdict.assumptions)
        edits = [edit for each in (parameters, *(given for _, given in calls)) for edit in _reverse(each)]
        return Site(
            span=(node.start_byte, node.end_byte),
            description=f"reversed the parameters of `{module.text(name) if name is not None else ''}`",
            edits=tuple(edits),
            assumptions=tuple(sorted(assumed)),
        )


def _listed_nodes(node: Node | None) -> list[Node]:
    """Return the nodes in parentheses, without comments."""
    return [child for child in node.named_children if not child.is_extra] if node is not None else []


def _reverse(nodes: Sequence[Node]) -> list[Edit]:
    return [
        Edit(place.start_byte, place.end_byte, (Slice(kept.start_byte, kept.end_byte),))
        for place, kept in zip(nodes, reversed(nodes), strict=True)
        if place.id != kept.id
    ]


def _calls(
    module: JavaModule, method: Node, name: str, parameters: Sequence[Node]
) -> list[tuple[Node, list[Node]]] | str:
    """All calls of a method with their arguments, or the reason why they are unknown."""
    if any(parameter.type != "formal_parameter" for parameter in parameters):
        return "it takes any number of arguments"
    calls: list[tuple[Node, list[Node]]] = []
    for node in module.nodes("identifier"):
        above = module.parent(node)
        if module.text(node) != name or above.id == method.id:
            continue
        named = above.child_by_field_name("name")
        is_name = named is not None and named.id == node.id
        line = module.line(node.start_byte)
        if above.type == "method_declaration" and is_name:
            return f"line {line}: another method has the same name"
        if above.type == "method_reference":
            return f"line {line}: it is used without being called"
        if above.type != "method_invocation" or not is_name:
            continue
        item = above.child_by_field_name("object")
        if (item is not None and item.type != "this") or _class_of(module, above) != _class_of(
            module, method
        ):
            return f"line {line}: it is called on an object that may be of another class"
        given = _listed_nodes(above.child_by_field_name("arguments"))
        if len(given) != len(parameters):
            return f"line {line}: it is called with other arguments"
        calls.append((above, given))
    return calls


def _class_of(module: JavaModule, node: Node) -> int:
    """Node id of the body of the innermost class around a node; 0 if there is none."""
    bodies = {"class_body", "enum_body", "interface_body"}
    return next((above.id for above in module.ancestors(node) if above.type in bodies), 0)


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
