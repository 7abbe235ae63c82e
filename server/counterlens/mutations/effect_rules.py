"""What a rule for one class of nodes is given: the analysis that it is part of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import libcst as cst

from counterlens.mutations.bound import SurelyBound
from counterlens.mutations.effects import SideEffects
from counterlens.mutations.kinds import Kinds
from counterlens.mutations.module import Module


class NodeEffects(Protocol):
    """The effects of the nodes of one module, for rules that need those of other nodes.

    Attributes:
        module: The module.
        bound: Which of its variables are surely bound.
        kinds: What its expressions evaluate to.
    """

    module: Module
    bound: SurelyBound
    kinds: Kinds

    def of(self, node: cst.CSTNode) -> SideEffects:
        """What a statement or expression can do."""
        ...

    def add(self, node: cst.CSTNode, to: SideEffects) -> None:
        """Add what a node can do."""
        ...

    def parts(self, node: cst.CSTNode, to: SideEffects) -> None:
        """Add what the parts of a node can do."""
        ...


Rule = Callable[[NodeEffects, Any, SideEffects], None]
"""Adds what a node can do: called with the analysis, the node, and what to add to."""
Rules = dict[type[cst.CSTNode], Rule]


def compound(analysis: NodeEffects, node: cst.CSTNode, to: SideEffects) -> None:
    """A node that does what its parts do, and nothing else."""
    analysis.parts(node, to)
