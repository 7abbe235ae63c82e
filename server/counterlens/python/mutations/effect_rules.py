"""The effects of the nodes of one module: computed once, by one rule for each node class.

Definite assignment: places at which a local variable is certainly bound, so reading it cannot raise.

A binding statement covers the rest of its block, because a block runs its statements in order or is left.
The target of a `for`, a `with` or an `except` covers the body. A variable that is deleted anywhere is never
certainly bound.

The effects are an upper bound; `mutation.py` computes them. `dependence/effects.py` answers another question:
which definitions a statement makes and reads, in order of evaluation and as people understand the code. There
an unknown call changes nothing; here it may do anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import libcst as cst

from counterlens.python.mutations.acting_reads import TRUTH, acting_reads
from counterlens.python.mutations.kinds import Kinds, ValueKind
from counterlens.python.mutations.lookups import lookups_in
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.reading import children
from counterlens.python.mutations.variables import Occurrence, Role, ScopeKind, Variable

_STATEMENTS = (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Import, cst.ImportFrom)
_BODIES = (cst.For, cst.With, cst.ExceptHandler)
_WITHIN = (
    cst.AssignTarget, cst.Tuple, cst.List, cst.Element, cst.StarredElement, cst.AsName, cst.WithItem,
    cst.ImportAlias, cst.Attribute,
)  # fmt: skip
_YIELDING = (cst.Yield, cst.Await, cst.Global, cst.Nonlocal)


class Heap(IntEnum):
    """Access of code to objects that other code may hold."""

    NONE = 0
    READ = 1
    WRITE = 2


@dataclass(slots=True)
class SideEffects:
    """The possible effects of a piece of code, over-approximated.

    Attributes:
        writes: Variables that it binds or deletes.
        heap: Its access to objects.
        raises: It may raise, or not terminate.
        opaque: It may run unknown code.
        yields: It may suspend (`yield`, `await`), or declares a name.
        jumps: It may `break` or `continue` a loop around it.
        exits: It may `return` or `raise`.
        operators: It relies on the assumption that operators and known methods have no side effects.
    """

    reads: set[Variable] = field(default_factory=set)
    writes: set[Variable] = field(default_factory=set)
    heap: Heap = Heap.NONE
    raises: bool = False
    opaque: bool = False
    yields: bool = False
    jumps: bool = False
    exits: bool = False
    operators: bool = False

    @property
    def inert(self) -> bool:
        """Whether running it has no effect beyond its value and the variables that it binds."""
        return not (self.opaque or self.yields or self.jumps or self.exits or self.heap is Heap.WRITE)

    def include(self, other: SideEffects) -> None:
        """Add the effects of another piece of code."""
        self.reads |= other.reads
        self.writes |= other.writes
        self.heap = max(self.heap, other.heap)
        for flag in ("raises", "opaque", "yields", "jumps", "exits", "operators"):
            setattr(self, flag, getattr(self, flag) or getattr(other, flag))

    def touches(self, heap: Heap) -> None:
        """Record an access to objects."""
        self.heap = max(self.heap, heap)


class SurelyBound:
    """The places in one module at which its local variables are certainly bound."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._ranges: dict[Variable, list[tuple[int, int]]] = {}

    def at(self, occurrence: Occurrence) -> bool:
        """Whether the variable read at an occurrence is bound whenever that code runs."""
        variable = occurrence.variable
        if variable is None or not variable.scope.is_function or Role.DELETE in variable.roles:
            return False
        if Role.PARAMETER in variable.roles or variable.scope.kind is ScopeKind.COMPREHENSION:
            return True
        if occurrence.deferred(variable.scope):
            return False
        at = self._module.start(occurrence.node)
        ranges = self._ranges.get(variable)
        if ranges is None:
            own = [occurrence for occurrence in variable.occurrences if occurrence.scope is variable.scope]
            ranges = self._ranges[variable] = [*filter(None, map(self._range, own))]
        return any(start <= at < end for start, end in ranges)

    def _range(self, occurrence: Occurrence) -> tuple[int, int] | None:
        module = self._module
        if occurrence.role in {Role.USE, Role.DECLARE, Role.ANNOTATE}:
            return None
        above = module.parent(occurrence.node)
        while isinstance(above, _WITHIN):
            above = module.parent(above)
        if isinstance(above, _BODIES):
            inside = isinstance(above, cst.For | cst.With) or above.name is not None
            return module.span(above.body) if inside else None
        if isinstance(above, _STATEMENTS):
            above = module.parent(above)  # the line with the statement
        elif not isinstance(above, cst.FunctionDef | cst.ClassDef):
            return None
        block = module.parent(above)
        return (module.end(above), module.end(block)) if isinstance(block, cst.IndentedBlock) else None


class EffectAnalysis:
    """The effects of the statements and expressions of one module.

    Attributes:
        bound: The places where its variables are certainly bound.
        kinds: The value kinds of its expressions.
        exposes_module: Whether code may access the module's variables by name.
        acting: Its reads that write.
    """

    def __init__(self, module: Module, rules: Rules) -> None:
        self.module, self._rules = module, rules
        self.bound, self.kinds = SurelyBound(module), Kinds(module)
        self.acting, self.exposes_module = acting_reads(module), lookups_in(module).exposes_module
        self._effects: dict[cst.CSTNode, SideEffects] = {}

    def of(self, node: cst.CSTNode) -> SideEffects:
        """The possible effects of a statement or expression."""
        effects = self._effects.get(node)
        if effects is None:
            effects = self._effects[node] = SideEffects()
            self.add(node, effects)
        return effects

    def add(self, node: cst.CSTNode, to: SideEffects) -> None:
        """Add the possible effects of a node."""
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
        """Add the possible effects of a node's children; of a node with no others, this is the rule."""
        waiting = [*reversed(children(node))]
        while waiting:  # and no recursion into blocks and lines, which would triple the depth of the stack
            child = waiting.pop()
            if self._rules.get(type(child)) is EffectAnalysis.parts:
                waiting += reversed(children(child))
            else:
                self.add(child, to)


Rule = Callable[[EffectAnalysis, Any, SideEffects], None]
"""Adds the possible effects of a node: called with the analysis, the node and the effects to extend."""
Rules = Mapping[type[cst.CSTNode], Rule]
