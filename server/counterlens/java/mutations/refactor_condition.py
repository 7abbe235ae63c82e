"""`refactor-condition` for Java: assigns the condition of an `if` to a boolean variable before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from tree_sitter import Node

from counterlens.java.mutations.branches import is_else_if
from counterlens.java.mutations.conditions import assigns, is_constant, tested, why_not_moved
from counterlens.java.mutations.mutation import JavaContext, JavaMutation
from counterlens.mutations.base import Concept
from counterlens.mutations.edits import Edit, Slice, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.mutations.names import numbered_names


class JavaRefactorCondition(JavaMutation):
    """Assign the condition of an `if` to a new variable, and test the variable.

    The condition is evaluated at the same moment as before. An `else if` is refused, because it is evaluated
    later; so is a condition on which the compiler's flow analysis depends, because it assigns or binds a
    variable or may be constant.
    """

    id = "refactor-condition"
    concept = Concept.CONTROL_FLOW
    source = "Ahmed et al. 2024, section 3.2.3"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            class A {
                int f(int a, int b) {
                    // bigger
                    if (a > b) { // really
                        return a;
                    }
                    if (a == 0) return 1;
                    return b;
                }
            }
            """,
            after="""
            class A {
                int f(int a, int b) {
                    // bigger
                    boolean condition = a > b;
                    if (condition) { // really
                        return a;
                    }
                    boolean condition2 = a == 0;
                    if (condition2) return 1;
                    return b;
                }
            }
            """,
        ),
        Example(
            before="class A { void f(int a) { int b; if ((b = a) > 1) g(b); } }", refused="assigns a variable"
        ),
        Example(
            before="class A { void f(boolean a, int b) { while (b > 0) if (a) g(); } }",
            refused="not in a block",
        ),
        Example(before="class A { void f() { if (true) g(); } }", refused="constant"),
    )

    def sites(self, context: JavaContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        end, names = -1, numbered_names(module, "condition", 2, plain=True)
        for node in module.nodes("if_statement"):
            around = module.function_at(node.start_byte)
            if around is not None and around.start >= end:
                end, names = around.end, numbered_names(module, "condition", 2, plain=True)
            reason = self._why_not(context, node)
            yield SiteRefused(node.start_byte, reason) if reason else self._site(context, node, next(names))

    def _why_not(self, context: JavaContext, node: Node) -> str | None:
        module, test = context.module, tested(node)
        if is_else_if(module, node):
            return "the condition of an else if is evaluated only if those before it are false"
        if not module.in_sequence(node):
            return "the if is not in a block, so no variable can be declared before it"
        reason = why_not_moved(context, test)
        if reason is not None:
            return reason
        if assigns(context, test):
            return "the condition assigns a variable, and definite assignment depends on it"
        if is_constant(module, test):
            return "the condition may be a constant, by which the compiler decides which branch is reachable"
        return None

    def _site(self, context: JavaContext, node: Node, name: str) -> Site:
        module, test = context.module, tested(node)
        start = node.start_byte
        follow = f";{module.newline}{module.indentation(start)}" if module.begins_line(start) else "; "
        return Site(
            span=(start, test.end_byte),
            description=f"moved the condition `{module.shown(test)}` to the variable `{name}`",
            edits=(
                Edit(start, start, (f"boolean {name} = ", Slice(test.start_byte, test.end_byte), follow)),
                replace(test.start_byte, test.end_byte, name),
            ),
        )
