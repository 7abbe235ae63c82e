"""The effects of the nodes of one module: computed once, by one rule for each node class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import libcst as cst

from counterlens.python.mutations.acting_reads import TRUTH, acting_reads
from counterlens.python.mutations.bound import SurelyBound
from counterlens.python.mutations.children import children
from counterlens.python.mutations.effects import Heap, SideEffects
from counterlens.python.mutations.kinds import Kinds, ValueKind
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.unseen_uses import unseen_uses

_YIELDING = (cst.Yield, cst.Await, cst.Global, cst.Nonlocal)


class EffectAnalysis:
    """The effects of the statements and expressions of one module.

    Attributes:
        module: The module.
        bound: The places where its variables are certainly bound.
        kinds: The value kinds of its expressions.
        unseen: The uses of its variables that no name shows.
        acting: Its reads that write.
    """

    def __init__(self, module: Module, rules: Rules) -> None:
        self.module, self._rules = module, rules
        self.bound, self.kinds = SurelyBound(module), Kinds(module)
        self.unseen, self.acting = unseen_uses(module), acting_reads(module)
        self._known: dict[cst.CSTNode, SideEffects] = {}

    def of(self, node: cst.CSTNode) -> SideEffects:
        """The possible effects of a statement or expression."""
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = SideEffects()
            self.add(node, known)
        return known

    def add(self, node: cst.CSTNode, to: SideEffects) -> None:
        """Add the possible effects of a node."""
        variables, changes = self.unseen.reads(node)
        if variables or changes:
            to.reads |= variables
        if changes:
            to.writes |= variables
            to.opaque = to.raises = True
            to.touches(Heap.WRITE)
        rule = self._rules.get(type(node))
        if rule is not None:
            rule(self, node, to)
            return
        if isinstance(node, _YIELDING):
            to.yields = to.raises = True
        elif isinstance(node, cst.BaseExpression | cst.BaseStatement | cst.BaseSmallStatement):
            to.opaque = to.raises = True  # not a class that is known to be harmless
        self.parts(node, to)

    def operate(
        self, to: SideEffects, methods: Iterable[str], operands: Iterable[cst.BaseExpression] = ()
    ) -> None:
        """Add the possible effects of an operation, which special methods of its operands implement."""
        to.raises = True
        if self.acting.runs(methods, operands):
            to.opaque = True
            to.touches(Heap.WRITE)
        else:
            to.operators = True
            to.touches(Heap.READ)

    def test(self, node: cst.BaseExpression, to: SideEffects) -> None:
        """Add the possible effects of testing whether a value is true, without those of evaluating it."""
        kind = self.kinds.of(node)
        if isinstance(node, cst.BooleanOperation):
            self.test(node.right, to)  # the left side is tested where it is evaluated
        elif kind is ValueKind.CONTAINER:
            to.touches(Heap.READ)
        elif kind is ValueKind.UNKNOWN and not isinstance(node, cst.Comparison):
            self.operate(to, TRUTH, [node])

    def parts(self, node: cst.CSTNode, to: SideEffects) -> None:
        """Add the possible effects of a node's children."""
        for child in children(node):
            self.add(child, to)


Rule = Callable[[EffectAnalysis, Any, SideEffects], None]
"""Adds the possible effects of a node: called with the analysis, the node and the effects to extend."""
Rules = Mapping[type[cst.CSTNode], Rule]


def compound(analysis: EffectAnalysis, node: cst.CSTNode, to: SideEffects) -> None:
    """Add the effects of a node's children: the node itself has none."""
    analysis.parts(node, to)
