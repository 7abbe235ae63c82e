"""The mutations of an `if` that leave its branches in place, for Java."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from tree_sitter import Node

from counterlens.java.mutations.flow import completes
from counterlens.java.mutations.if_else_flip import (
    assigns,
    branches_of,
    condition_of,
    is_constant,
    is_else_if,
    negated,
    negated_as_a_whole,
    same_text,
    swap_branches,
    tested,
    why_not_moved,
)
from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.mutation import JavaContext, JavaMutation
from counterlens.mutations.base import Concept
from counterlens.mutations.edits import Edit, Slice, dedenting, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.mutations.parsed import numbered_names

_SAME = "both branches do the same"


def _same_branches(module: JavaModule, node: Node) -> bool:
    branches = branches_of(node)
    return branches.other is not None and same_text(module, branches.then, branches.other)


class JavaNegateCondition(JavaMutation):
    """Negate the condition of an `if`, and keep its branches, which breaks the program."""

    id = "negate-condition"
    concept = Concept.CONTROL_FLOW
    preserving = False
    source = "Nguyen et al. 2024, Table 1"
    types = ("if_statement",)
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="class A { int f(int a, Object b) { if (a < 1 && b == null) return 1; return 2; } }",
            after="class A { int f(int a, Object b) { if (a >= 1 || b != null) return 1; return 2; } }",
        ),
        Example(
            before="class A { void f(boolean a) { if (a) g(); else g(); } }",
            refused="both branches do the same",
        ),
        Example(
            before="class A { void f(Object o) { if (o instanceof String s) g(s); } }", refused="pattern"
        ),
    )

    def __init__(self, *, by_not: bool = False) -> None:
        """`by_not`: whether conditions are always negated by `!`."""
        self.by_not = by_not

    def site(self, context: JavaContext, node: Node) -> Site | SiteRefused:
        test = tested(node)
        reason = _SAME if _same_branches(context.module, node) else why_not_moved(context, test)
        if reason is not None:
            return SiteRefused(node.start_byte, reason)
        return Site(
            span=(node.start_byte, condition_of(node).end_byte),
            description=f"negated the condition `{context.module.shown(test)}`",
            edits=negated_as_a_whole(test) if self.by_not else negated(context, test),
        )


class JavaBlockSwapPlain(JavaMutation):
    """Swap the branches of an `if` with an `else` without negating its condition, which breaks the program.

    The result is closer to the original's text than that of `if-else-flip`, and farther from its meaning.
    """

    id = "block-swap-plain"
    concept = Concept.CONTROL_FLOW
    preserving = False
    source = "Ahmed et al. 2024, Table 6"
    types = ("if_statement",)
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="class A { int f(boolean a) { if (a) { return 1; } else { return 2; } } }",
            after="class A { int f(boolean a) { if (a) { return 2; } else { return 1; } } }",
        ),
        Example(
            before="class A { int f(boolean a) { if (a) return 1; else return 2; } }",
            after="class A { int f(boolean a) { if (a) { return 2; } else return 1; } }",
        ),
        Example(before="class A { void f(boolean a) { if (a) g(); } }", refused="no else branch"),
        Example(before="class A { void f(boolean a) { if (a) g(); else g(); } }", refused="do the same"),
    )

    def site(self, context: JavaContext, node: Node) -> Site | SiteRefused:
        module = context.module
        branches = branches_of(node)
        reason = _SAME if _same_branches(module, node) else why_not_moved(context, tested(node))
        if branches.other is None:
            return SiteRefused(node.start_byte, "there is no else branch to swap with")
        if reason is not None:
            return SiteRefused(node.start_byte, reason)
        shape = swap_branches(module, node, branches.then, branches.other)
        return Site(
            span=(node.start_byte, node.end_byte),
            description="swapped the branches and kept the condition",
            edits=shape.edits,
            reindented=shape.reindented,
        )


class JavaRemoveConditional(JavaMutation):
    """Remove an `if` without `else`, so that its body always runs, which breaks the program.

    An `if` whose body always jumps is refused if code follows it, because the compiler refuses unreachable
    code.
    """

    id = "remove-conditional"
    concept = Concept.CONTROL_FLOW
    preserving = False
    source = "Nguyen et al. 2024, Table 1"
    types = ("if_statement",)
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before='''
            class A {
                void f(boolean a) {
                    if (a) { // here
                        g();
                        h("""
                            text
                        """);
                    }
                    k();
                }
            }
            ''',
            after='''
            class A {
                void f(boolean a) {
                    // here
                    g();
                    h("""
                            text
                        """);
                    k();
                }
            }
            ''',
        ),
        Example(
            before="class A { void f(boolean a) { if (a) { int b = 1; g(b); } } }",
            after="class A { void f(boolean a) { { int b = 1; g(b); } } }",
        ),
        Example(before="class A { void f(boolean a) { if (a) g(); else h(); } }", refused="another branch"),
        Example(
            before="class A { int f(boolean a) { if (a) return 1; return 2; } }",
            refused="unreachable",
        ),
        Example(
            before="class A { void f(int a) { if ((a = g()) > 0) h(a); } }", refused="assigns a variable"
        ),
    )

    def site(self, context: JavaContext, node: Node) -> Site | SiteRefused:
        reason = _why_kept(context, node)
        if reason is not None:
            return SiteRefused(node.start_byte, reason)
        shown = context.module.shown(tested(node))
        return Site(
            (node.start_byte, node.end_byte),
            f"removed the condition `{shown}`; the guarded code stays",
            tuple(_unguard(context.module, node)),
        )


def _why_kept(context: JavaContext, node: Node) -> str | None:
    """The reason why a condition cannot be removed; None if it can."""
    module = context.module
    branches, test = branches_of(node), tested(node)
    if branches.other is not None or is_else_if(module, node):
        return "there is another branch"
    reason = why_not_moved(context, test)
    if reason is not None:
        return reason
    if assigns(context, test):
        return "the condition assigns a variable that the body may need"
    if not completes(module, branches.then) and _has_following_statement(module, node):
        return "the code after it would be unreachable and would not compile"
    return None


def _has_following_statement(module: JavaModule, node: Node) -> bool:
    """Whether another statement follows, in the statement's block or in one around that."""
    while True:
        around = module.parent(node)
        if around.type in {"block", "switch_block_statement_group", "constructor_body"}:
            if any(statement.start_byte >= node.end_byte for statement in module.statements(around)):
                return True
        elif around.type not in {
            "try_statement",
            "synchronized_statement",
            "labeled_statement",
            "do_statement",
        }:
            return False
        node = around


def _unguard(module: JavaModule, node: Node) -> list[Edit]:
    then = branches_of(node).then
    statements = module.statements(then) if then.type == "block" else []
    declares = any("declaration" in statement.type for statement in statements)
    above = module.in_sequence(node)
    inside = then.start_byte + 1, then.end_byte - 1
    if not above or declares or not statements or not module.begins_line(then.end_byte - 1):
        return [replace(node.start_byte, then.start_byte, "")]
    base = module.indentation(node.start_byte)
    first = next(child for child in then.named_children)
    last = max(child.end_byte for child in then.named_children)
    lines = dedenting(module, first.start_byte, inside[1], base, module.indent)
    kept = Slice(first.start_byte, last)
    return [
        Edit(node.start_byte, node.end_byte, (kept,)),
        *(edit for edit in lines if first.start_byte <= edit.start and edit.end <= last),
    ]


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
