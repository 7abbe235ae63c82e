"""`if-else-flip` for Java: negates the condition of an if-else and swaps its branches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from tree_sitter import Node

from counterlens.java.mutations.branches import JavaBranchSwap, branches_of, swap_branches
from counterlens.java.mutations.conditions import negated, negated_as_a_whole, tested, why_not_moved
from counterlens.java.mutations.flow import completes
from counterlens.java.mutations.mutation import JavaContext, JavaMutation
from counterlens.mutations.base import Concept
from counterlens.mutations.edits import Edit, Slice
from counterlens.mutations.layout import indenting
from counterlens.mutations.mutation import Example, Site, SiteRefused


class JavaIfElseFlip(JavaMutation):
    """Negate the condition of an `if` with an `else`, and swap its branches.

    The condition is negated by complementary operators and De Morgan's laws, and by `!` if a part has no
    complement: `<` becomes `>=` for integers only, because of NaN. An `else if` counts as an `if` in the
    `else` branch, and becomes one. For an `if` without `else` whose body always jumps, the rest of its block
    is the `else` branch.
    """

    id = "if-else-flip"
    concept = Concept.CONTROL_FLOW
    source = "Hooda et al. 2024, section 3.3; Ahmed et al. 2024, section 3.1.2; Nguyen et al. 2024, Table 1"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            class A {
                int f(int a, double b) {
                    if (a < 0 && b < 1) {
                        return 1; // one
                    } else {
                        return 2;
                    }
                }
            }
            """,
            after="""
            class A {
                int f(int a, double b) {
                    if (a >= 0 || !(b < 1)) {
                        return 2;
                    } else {
                        return 1; // one
                    }
                }
            }
            """,
        ),
        Example(
            before="""
            class A {
                void f(int a, int b) {
                    if (a < 0) {
                        g();
                    } else if (a == b || !h()) {
                        k();
                    }
                }
            }
            """,
            after="""
            class A {
                void f(int a, int b) {
                    if (a >= 0) {
                        if (a == b || !h()) {
                            k();
                        }
                    } else {
                        g();
                    }
                }
            }
            """,
            refused="no else branch",
        ),
        Example(
            before="""
            class A {
                int f(int a) {
                    if (a == 1) return 0; // none
                    // the rest
                    g();
                    return a;
                }
            }
            """,
            after="""
            class A {
                int f(int a) {
                    if (a != 1) { // none
                        // the rest
                        g();
                        return a;
                    } else return 0;
                }
            }
            """,
        ),
        Example(
            before="""
            class A {
                int f(Object o) {
                    if (!(o instanceof String s)) return 0; else return 1;
                }
            }
            """,
            refused="pattern",
        ),
    )

    def __init__(self, *, by_not: bool = False) -> None:
        """`by_not`: whether conditions are always negated by `!`."""
        self.by_not = by_not

    def sites(self, context: JavaContext) -> Iterator[Site | SiteRefused]:
        for node in context.module.nodes("if_statement"):
            yield self._site(context, node)

    def _site(self, context: JavaContext, node: Node) -> Site | SiteRefused:
        module, test = context.module, tested(node)
        reason = why_not_moved(context, test)
        if reason is not None:
            return SiteRefused(node.start_byte, reason)
        branches = branches_of(node)
        shape = (
            swap_branches(module, node, branches.then, branches.other)
            if branches.other is not None
            else _nest(context, node, branches.then)
        )
        if shape is None:
            return SiteRefused(
                node.start_byte,
                "there is no else branch, and its body may continue with the code that follows",
            )
        done = (
            "swapped its branches" if branches.other else "moved the code that follows into the other branch"
        )
        return Site(
            span=(node.start_byte, node.end_byte),
            description=f"negated the condition `{module.shown(test)}` and {done}",
            edits=(*(negated_as_a_whole(test) if self.by_not else negated(context, test)), *shape.edits),
            cut=shape.cut,
            reindented=shape.reindented,
        )


def _nest(context: JavaContext, node: Node, then: Node) -> JavaBranchSwap | None:
    """Move the code after an `if` that always leaves into its body; the body becomes an `else` after it."""
    module = context.module
    around = module.parent(node)
    if around.type != "block" or completes(module, then) or not module.begins_line(node.start_byte):
        return None
    rest = [statement for statement in module.statements(around) if statement.start_byte >= node.end_byte]
    if not rest or not module.begins_line(rest[0].start_byte):
        return None
    base = module.indentation(node.start_byte)
    end = max(child.end_byte for child in around.named_children)
    if module.data[end - 1 : end] == b"\n":  # the newline of a line comment is not part of it
        end -= 1
    edits = (
        Edit(then.start_byte, then.end_byte, ("{",)),
        *indenting(module, then.end_byte, end, base, module.indent),
        Edit(end, end, (f"{module.newline}{base}}} else ", Slice(then.start_byte, then.end_byte))),
    )
    first = module.line_start(rest[0].start_byte)
    return JavaBranchSwap(
        edits, ((then.end_byte, end),), None if then.type != "block" else _cut(context, then, first)
    )


def _cut(context: JavaContext, then: Node, rest: int) -> tuple[int, int] | None:
    statements = context.module.statements(then)
    if not statements or not context.module.begins_line(statements[0].start_byte):
        return None
    return context.module.line_start(statements[0].start_byte), rest
