"""What running a piece of code can do: which variables, which objects, which exceptions, which jumps.

Lowering rules, from the strongest:

- A call of anything but a known builtin or method is opaque: it may run any code.
- Iterating over what may be an iterator uses it up, which is a write to an object.
- A store to an attribute or subscript, `+=` on what may be mutable, and methods such as `append` write to an
  object; which object is not followed, so one write conflicts with every read of any object.
- Operators, attribute and subscript reads, and methods that built-in classes have and do not mutate, read
  objects and may raise. That their implementations have no side effects is assumed (`pure-operators`).
"""

from __future__ import annotations

import libcst as cst

from counterlens.mutations import effect_calls, effect_expressions, effect_statements
from counterlens.mutations.bound import SurelyBound
from counterlens.mutations.children import children
from counterlens.mutations.effect_rules import Rules
from counterlens.mutations.effects import SideEffects
from counterlens.mutations.kinds import Kinds
from counterlens.mutations.module import Module

_YIELDING = (cst.Yield, cst.Await, cst.Global, cst.Nonlocal)
_RULES: Rules = {**effect_expressions.RULES, **effect_calls.RULES, **effect_statements.RULES}


class EffectAnalysis:
    """The effects of the statements and expressions of one module. Implements `effect_rules.Analysis`."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.bound = SurelyBound(module)
        self.kinds = Kinds(module)
        self._known: dict[cst.CSTNode, SideEffects] = {}

    def of(self, node: cst.CSTNode) -> SideEffects:
        """What a statement or expression can do."""
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = SideEffects()
            self.add(node, known)
        return known

    def add(self, node: cst.CSTNode, to: SideEffects) -> None:
        """Add what a node can do."""
        rule = _RULES.get(type(node))
        if rule is not None:
            rule(self, node, to)
        elif isinstance(node, _YIELDING):
            to.yields = to.raises = True
            self.parts(node, to)
        elif isinstance(node, cst.BaseExpression | cst.BaseStatement | cst.BaseSmallStatement):
            to.opaque = to.raises = True  # not one of those that are known to be harmless
            self.parts(node, to)
        else:
            self.parts(node, to)

    def parts(self, node: cst.CSTNode, to: SideEffects) -> None:
        """Add what the parts of a node can do."""
        for child in children(node):
            self.add(child, to)
