"""The branches of a Java `if`, and swapping them."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from counterlens.java.mutations.module import JavaModule
from counterlens.mutations.edits import Edit, Piece, Slice
from counterlens.mutations.layout import indenting


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
