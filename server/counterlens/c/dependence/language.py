"""The dependence analysis of C.

Lowers the statements of C to a control-flow graph (general rules: `braces/lowering.py`).

- `goto` jumps to its label anywhere in the function.
- A macro before a block is a call, and the block runs once: macros are not expanded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tree_sitter import Node

from counterlens.c.dependence.expressions import SYNTAX, declared_identifier, within
from counterlens.dependence.braces.lowering import COMMON, BraceLayout, LowerStatement
from counterlens.dependence.braces.program import BraceLanguage
from counterlens.dependence.braces.statements import statement_after_label
from counterlens.dependence.cfg import Arc, ControlFlowGraph, Loose
from counterlens.dependence.effects import Effects
from counterlens.syntax.definitions import FunctionDefinition, text_of


class CLayout(BraceLayout):
    """The lowering of one function to a control-flow graph.

    Attributes:
        places: The nodes of the labels.
        gotos: Loose arcs of the jumps to each label.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.places: dict[str, int] = {}
        self.gotos: dict[str, Loose] = {}

    def function(self, node: Node) -> ControlFlowGraph:
        self.dead_ends = not _jumps(node)
        graph = super().function(node)
        for label, arcs in self.gotos.items():
            if label in self.places:
                graph.connect(arcs, self.places[label])
        return graph

    def parameters(self, function: Node) -> Effects:
        effects = Effects()
        declarator = function.child_by_field_name("declarator")
        while declarator is not None and not _takes_parameters(declarator):
            declarator = within(declarator)
        listed = None if declarator is None else declarator.child_by_field_name("parameters")
        older = [child for child in function.named_children if child.type == "declaration"]  # f(a) int a; {}
        for parameter in [*(listed.named_children if listed is not None else ()), *older]:
            untyped = parameter.child_by_field_name("type") or parameter  # f(a, b)
            for each in parameter.children_by_field_name("declarator") or [untyped]:
                name = each if each.type == "type_identifier" else declared_identifier(each)
                if name is not None:
                    effects.strong.add(self.blocks.declare(name))
        return effects


def _takes_parameters(declarator: Node) -> bool:
    """Whether a declarator is the function's own, not that of its return type."""
    inner = within(declarator)
    return declarator.type == "function_declarator" and inner is not None and inner.type == "identifier"


def _jumps(function: Node) -> bool:
    stack = [function]
    while stack:
        node = stack.pop()
        if node.type == "goto_statement":
            return True
        stack += node.named_children
    return False


def _goto(lower: CLayout, statement: Node, loose: Loose) -> Loose:
    node = lower.node(statement, None, loose)
    label = text_of(statement.child_by_field_name("label"))
    lower.gotos.setdefault(label, []).append((node, Arc.NEXT))
    return []


def _lower_label(lower: CLayout, statement: Node, loose: Loose) -> Loose:
    here = lower.unseen(None, loose)
    lower.places[text_of(statement.child_by_field_name("label"))] = here
    return lower.body(statement_after_label(statement), [(here, Arc.NEXT)])


_LOWERINGS: dict[str, LowerStatement] = {
    **COMMON,
    "goto_statement": _goto,
    "labeled_statement": _lower_label,
}
CLayout.lowerings = _LOWERINGS


def functions(root: Node) -> Iterator[FunctionDefinition]:
    """The functions that are defined in a file."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "function_definition":
            name = declared_identifier(node.child_by_field_name("declarator"))
            if name is not None:
                yield FunctionDefinition((text_of(name),), None, node)
            continue
        stack += reversed(node.named_children)


C = BraceLanguage("c", functions, CLayout, SYNTAX, tolerant=True).analysed
