"""`if-else-flip` for Java, and the branches of an `if`, which it swaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tree_sitter import Node

from counterlens.java.mutations.flow import completes
from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.mutation import JavaContext, JavaMutation
from counterlens.java.mutations.static_types import operands
from counterlens.java.mutations.variables import JavaKind
from counterlens.mutations.base import Concept
from counterlens.mutations.edits import Edit, Piece, Slice, indenting, insert, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.syntax.tree import descendants

_EQUALITY = {"==": "!=", "!=": "=="}
_ORDER = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_JUNCTIONS = {"&&": "||", "||": "&&"}
_TIGHT = {
    "identifier",
    "method_invocation",
    "field_access",
    "array_access",
    "parenthesized_expression",
    "true",
    "false",
}
"""Node types that bind at least as tightly as `!`, so they need no parentheses."""
_LITERALS = {
    "true", "false", "decimal_integer_literal", "hex_integer_literal", "character_literal",
    "string_literal", "decimal_floating_point_literal",
}  # fmt: skip


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
    types = ("if_statement",)
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

    def site(self, context: JavaContext, node: Node) -> Site | SiteRefused | None:
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


@dataclass(frozen=True, slots=True)
class JavaBranches:
    """The two branches of an `if`; the second is None if there is no `else`."""

    then: Node
    other: Node | None


def branches_of(node: Node) -> JavaBranches:
    """The branches of an `if`."""
    then = node.child_by_field_name("consequence")
    assert then is not None, "every `if` has a statement"
    return JavaBranches(then, node.child_by_field_name("alternative"))


def is_else_if(module: JavaModule, node: Node) -> bool:
    """Whether an `if` is the `else` branch of another one."""
    above = module.parent(node)
    if above.type != "if_statement":
        return False
    other = branches_of(above).other
    return other is not None and other.id == node.id


@dataclass(frozen=True, slots=True)
class JavaBranchSwap:
    """The edits that swap two branches, the ranges whose lines they indent, and the cut."""

    edits: tuple[Edit, ...]
    reindented: tuple[tuple[int, int], ...]
    cut: tuple[int, int] | None


def swap_branches(module: JavaModule, node: Node, then: Node, other: Node) -> JavaBranchSwap:
    """Swap the branches of an `if`, with braces where an `else` would otherwise belong to another `if`."""
    here, there = (then.start_byte, then.end_byte), (other.start_byte, other.end_byte)
    edits = [Edit(*there, (Slice(*here),))]
    reindented: tuple[tuple[int, int], ...] = ()
    if other.type == "block":
        edits.append(Edit(*here, (Slice(*there),)))
    elif other.type == "if_statement":
        base = module.indentation(node.start_byte)
        edits.append(Edit(*here, with_braces(module, other, base)))
        edits += indenting(module, other.start_byte + 1, other.end_byte, base, module.indent)
        reindented = (there,)
    else:
        edits.append(Edit(*here, ("{ ", Slice(*there), " }")))
    return JavaBranchSwap(tuple(edits), reindented, first_lines(module, then, other))


def with_braces(module: JavaModule, statement: Node, base: str) -> tuple[Piece, ...]:
    """A statement in new braces, on separate lines."""
    inner = f"{module.newline}{base}{module.indent}"
    return "{", inner, Slice(statement.start_byte, statement.end_byte), f"{module.newline}{base}}}"


def first_lines(module: JavaModule, then: Node, other: Node) -> tuple[int, int] | None:
    """Return the starts of the first lines of two blocks, after the lines of their opening braces."""
    if then.type != "block" or other.type != "block":
        return None
    starts = []
    for block in (then, other):
        statements = module.statements(block)
        if not statements or not module.begins_line(statements[0].start_byte):
            return None
        starts.append(module.line_start(statements[0].start_byte))
    return starts[0], starts[1]


def condition_of(node: Node) -> Node:
    """The condition of an `if` or `while`, with its parentheses."""
    condition = node.child_by_field_name("condition")
    assert condition is not None, node.type
    return condition


def tested(node: Node) -> Node:
    """The condition of an `if` or `while`, without the parentheses that the statement requires."""
    return next(child for child in condition_of(node).named_children if not child.is_extra)


def negated(context: JavaContext, test: Node) -> tuple[Edit, ...]:
    """The edits that negate a condition exactly.

    Complementary operators and De Morgan's laws keep the order of evaluation and short circuits; `!` is used
    where a part has no complement: `a < b` has one for integers only, because with NaN neither `a < b`
    nor `a >= b` is true.
    """
    edits: list[Edit] = []
    if _complement(context, test, "", edits):
        return tuple(edits)
    return negated_as_a_whole(test)


def negated_as_a_whole(test: Node) -> tuple[Edit, ...]:
    """The edits that negate any condition by `!`."""
    if test.type in _TIGHT:
        return (insert(test.start_byte, "!"),)
    return insert(test.start_byte, "!("), Edit(test.end_byte, test.end_byte, (")",))


def _complement(context: JavaContext, node: Node, above: str, edits: list[Edit]) -> bool:
    if node.type == "parenthesized_expression":
        inner = [child for child in node.named_children if not child.is_extra]
        return len(inner) == 1 and _complement(context, inner[0], "", edits)
    if node.type == "unary_expression" and node.children[0].type == "!":
        return _without_not(node, edits)
    if node.type in _TIGHT:
        edits.append(insert(node.start_byte, "!"))
        return bool(above)  # a condition that is not part of a larger one is negated as a whole
    if node.type != "binary_expression":
        edits += negated_as_a_whole(node)
        return bool(above)
    left, operator, right = operands(node)
    text = context.module.text(operator)
    if text in _JUNCTIONS:
        left, operator, right = operands(node)
        becomes = _JUNCTIONS[context.module.text(operator)]
        edits.append(replace(operator.start_byte, operator.end_byte, becomes))
        # `a && b || c` groups by precedence; its negation needs parentheses for the same grouping.
        if above == "&&" and becomes == "||":
            edits += [insert(node.start_byte, "("), Edit(node.end_byte, node.end_byte, (")",))]
        return _complement(context, left, becomes, edits) and _complement(context, right, becomes, edits)
    other = _EQUALITY.get(text)
    if text in _ORDER and context.types.integral(left) and context.types.integral(right):
        other = _ORDER[text]
    if other is None:
        edits += negated_as_a_whole(node)
        return bool(above)
    edits.append(replace(operator.start_byte, operator.end_byte, other))
    return True


def _without_not(node: Node, edits: list[Edit]) -> bool:
    """`!x` becomes `x`; `!(a || b)` keeps its parentheses if it is part of a larger condition."""
    operand = node.child_by_field_name("operand")
    if operand is None:
        return False
    edits.append(replace(node.start_byte, operand.start_byte, ""))
    return True


def why_not_moved(context: JavaContext, test: Node) -> str | None:
    """The reason why a condition cannot be negated or removed: it binds variables by a pattern."""
    if any(_binds(context.module, node) for node in descendants(test)):
        return "its condition binds a variable by a pattern"
    return None


def assigns(context: JavaContext, test: Node) -> bool:
    """Whether a condition assigns a variable of the method."""
    return bool(context.effects.of(test).writes)


def is_constant(module: JavaModule, test: Node) -> bool:
    """Whether a condition may be constant, so that the compiler knows which branch runs."""
    leaves = [node for node in descendants(test) if not node.named_child_count and node.is_named]
    return all(leaf.type in _LITERALS or _is_constant_name(module, leaf) for leaf in leaves)


def _is_constant_name(module: JavaModule, leaf: Node) -> bool:
    """Whether a name may be constant: a final field or variable, or a name declared in another file."""
    if leaf.type != "identifier":
        return False
    variable = module.scopes.variable(leaf)
    if variable is not None:
        return _is_final(module, variable.declared)
    declared = module.declarators.get(module.text(leaf), [])
    return not declared or any(_is_final(module, name) for name in declared)


def _is_final(module: JavaModule, name: Node) -> bool:
    declaration = module.parent(module.parent(name))
    modifiers = (child for child in declaration.named_children if child.type == "modifiers")
    return any("final" in module.text(child).split() for child in modifiers)


def _binds(module: JavaModule, node: Node) -> bool:
    variable = module.scopes.variable(node)
    return variable is not None and variable.kind is JavaKind.PATTERN and variable.declared.id == node.id


def same_text(module: JavaModule, branch: Node, other: Node) -> bool:
    """Whether two branches have the same text except for blanks, so that either may run."""
    return module.text(branch).split() == module.text(other).split()
