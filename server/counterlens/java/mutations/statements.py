"""`independent-swap` and `remove-definition` for Java."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar

from tree_sitter import Node

from counterlens.java.mutations.effects import MAY_JUMP, independent_in_java
from counterlens.java.mutations.flow import completes, is_caught
from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.mutation import JavaContext, JavaMutation
from counterlens.java.mutations.variables import JavaKind, JavaVariable
from counterlens.mutations.base import Concept
from counterlens.mutations.edits import exchange, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused

_FIXED = {
    "explicit_constructor_invocation", "class_declaration", "record_declaration", "enum_declaration",
    "interface_declaration", "labeled_statement",
}  # fmt: skip
_COMMENTS = {"line_comment", "block_comment"}
_LOOPS = {"for_statement", "enhanced_for_statement", "while_statement", "do_statement"}


class JavaIndependentSwap(JavaMutation):
    """Swap two adjacent, independent statements of a block.

    Two statements are independent if neither assigns or declares a variable that the other one uses, neither
    declares a name that the other one binds inside, neither may jump away, at most one calls unknown code,
    and neither can use an object that the other changes. A compound statement (a whole loop) counts as one.
    Comments move with their statement.
    """

    id = "independent-swap"
    concept = Concept.CONTROL_FLOW
    source = "Hooda et al. 2024, section 3.3"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            class A {
                int f(int n) {
                    int low = 0; // from
                    // the end
                    int high = n;
                    return g(low, high);
                }
            }
            """,
            after="""
            class A {
                int f(int n) {
                    // the end
                    int high = n;
                    int low = 0; // from
                    return g(low, high);
                }
            }
            """,
            refused="may jump",
        ),
        Example(before="class A { void f(int a) { int b = a; a = b + 1; } }", refused="both touch `b`"),
        Example(before="class A { void f() { g(); h(); } }", refused="both call unknown code"),
        Example(
            before="class A { void f(int[] a, int b) { a[0] = 1; b = a[1]; } }",
            refused="one changes an object",
        ),
        Example(
            before="class A { void f(int[] a, int b) { try { b = 1; a[0] = 1; } finally { g(b); } } }",
            refused="a handler of the exception",
        ),
    )

    def sites(self, context: JavaContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        for block in module.nodes("block", "constructor_body", "switch_block_statement_group"):
            for first, second in pairwise(module.statements(block)):
                yield self._site(context, first, second)

    def _site(self, context: JavaContext, first: Node, second: Node) -> Site | SiteRefused:
        module, effects = context.module, context.effects
        start = first.start_byte
        if first.type in _FIXED or second.type in _FIXED:
            return SiteRefused(start, "one of the statements has a fixed position")
        if not completes(module, second):
            return SiteRefused(start, f"the statement and the next: {MAY_JUMP}")
        verdict = independent_in_java(effects.of(first), effects.of(second), caught=is_caught(module, first))
        if verdict.reason is not None:
            return SiteRefused(start, f"the statement and the next: {verdict.reason}")
        if name := _declared_inside(module, first, second):
            reason = f"one declares `{name}`, which the other binds inside: it would not compile"
            return SiteRefused(start, f"the statement and the next: {reason}")
        here, there = _extents(module, first, second)
        if module.data[slice(*here)] == module.data[slice(*there)]:
            return SiteRefused(start, "the statement and the next are identical")
        return Site(
            span=(here[0], there[1]),
            description=f"swapped `{module.shown(first)}` and `{module.shown(second)}`",
            edits=exchange(here, there),
            assumptions=verdict.assumptions,
            whole=True,
        )


def _declared_inside(module: JavaModule, first: Node, second: Node) -> str | None:
    """A name that one statement declares in the block, and the other one binds inside, however deep.

    Java allows it only in the order of the source, because no local variable may shadow another one.
    """
    within = module.scopes.within
    for statement, other in ((first, second), (second, first)):
        inside = within(other.start_byte, other.end_byte)
        for variable in within(statement.start_byte, statement.end_byte):
            clashes = any((each.name, each.depth) == (variable.name, variable.depth) for each in inside)
            if clashes and _lasts(statement, variable):
                return variable.name
    return None


def _lasts(statement: Node, variable: JavaVariable) -> bool:
    """Whether a variable that is bound in a statement may be in scope behind it."""
    if variable.kind is JavaKind.PATTERN:  # as in `while (!(a instanceof B b))`
        return statement.type in {"while_statement", "for_statement"}
    declares = statement.type == "local_variable_declaration" and variable.kind is JavaKind.LOCAL
    above = variable.declared.parent
    return declares and above is not None and above.parent == statement


def _extents(module: JavaModule, first: Node, second: Node) -> tuple[tuple[int, int], tuple[int, int]]:
    """The byte ranges of two statements, with their comments if these can move along."""
    plain = (first.start_byte, first.end_byte), (second.start_byte, second.end_byte)
    around = module.parent(first).named_children
    extent, other = _extent(module, around, first), _extent(module, around, second)
    alone = all(
        module.begins_line(start) and not module.data[end:].lstrip(b" \t\f")[:1].strip()
        for start, end in (extent, other)
    )
    return (extent, other) if alone and extent[1] <= other[0] else plain


def _extent(module: JavaModule, siblings: list[Node], node: Node) -> tuple[int, int]:
    index = next(at for at, sibling in enumerate(siblings) if sibling.id == node.id)
    start, end = node.start_byte, node.end_byte
    for before in reversed(siblings[:index]):
        joined = before.type in _COMMENTS and module.begins_line(before.start_byte)
        if not joined or module.line(before.end_byte - 1) + 1 != module.line(start):
            break
        start = before.start_byte
    for after in siblings[index + 1 :]:
        if after.type not in _COMMENTS or module.line(after.start_byte) != module.line(end):
            break
        end = after.end_byte - (module.data[after.end_byte - 1 : after.end_byte] == b"\n")
    return start, end


class JavaRemoveDefinition(JavaMutation):
    """Remove an assignment of a method's variable that is used after it, which breaks the program.

    The mutation removes `x = 1`, `x += 1` and `x++` after a declaration with a value, but never the
    declaration, because the compiler refuses variables that may have no value.
    """

    id = "remove-definition"
    concept = Concept.DATA_FLOW
    preserving = False
    source = "Nguyen et al. 2024, Table 1"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            class A {
                int f(int a) {
                    int b = 1;
                    b = a + 1;
                    while (b > 0) a -= b--;
                    if (a > 1) a++;
                    return a;
                }
            }
            """,
            after="""
            class A {
                int f(int a) {
                    int b = 1;
                    while (b > 0) ;
                    if (a > 1) ;
                    return a;
                }
            }
            """,
            refused="would not compile",
        ),
        Example(before="class A { void f(int a) { a = 1; } }", refused="`a` is never used"),
        Example(before="class A { void f() { int a; a = 1; g(a); } }", refused="would not compile"),
    )

    def sites(self, context: JavaContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        for node in module.nodes("expression_statement", "local_variable_declaration"):
            if module.parent(node).type in {"for_statement", "switch_rule"}:
                continue
            if node.type == "local_variable_declaration":
                if any(
                    declarator.child_by_field_name("value")
                    for declarator in node.children_by_field_name("declarator")
                ):
                    yield SiteRefused(
                        node.start_byte, "without the declaration the program would not compile"
                    )
                continue
            # the local variable that an assignment, `++` or `--` sets; None for other expressions
            expression = node.named_children[0]
            if expression.type == "assignment_expression":
                target = expression.child_by_field_name("left")
            elif expression.type == "update_expression":
                target = expression.named_children[0]
            else:
                target = None
            variable = module.scopes.variable(target) if target is not None else None
            if variable is not None:
                yield self._site(module, node, variable)

    def _site(self, module: JavaModule, node: Node, variable: JavaVariable) -> Site | SiteRefused:
        start, end = node.start_byte, node.end_byte
        if variable.kind is JavaKind.LOCAL and variable.value is None:
            return SiteRefused(start, "without the value the program would not compile")
        loops = [above for above in module.ancestors(node) if above.type in _LOOPS]
        loops = [loop for loop in loops if loop.start_byte > variable.declared.start_byte]
        begin = loops[-1].start_byte if loops else end
        if not any(use.start_byte >= begin and not start <= use.start_byte < end for use in variable.uses):
            return SiteRefused(start, f"`{variable.name}` is never used after it")
        edit = replace(start, end, ";")
        if module.in_sequence(node):
            line = module.line_start(start)
            tail = module.data[end:].partition(b"\n")[0]
            whole = module.begins_line(start) and not tail.strip()
            edit = replace(line, end + len(tail) + 1, "") if whole else replace(start, end, "")
        return Site((start, end), f"removed `{module.shown(node)}`", (edit,))
