"""Definite assignment: places at which a local variable is certainly bound, so reading it cannot raise.

A binding statement covers the rest of its block, because a block runs its statements in order or is left.
The target of a `for`, a `with` or an `except` covers the body. A variable that is deleted anywhere is never
certainly bound.
"""

from __future__ import annotations

import libcst as cst

from counterlens.python.mutations.module import Module
from counterlens.python.mutations.variables import Occurrence, Role, ScopeKind, Variable

_STATEMENTS = (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Import, cst.ImportFrom)
_BODIES = (cst.For, cst.With, cst.ExceptHandler)
_WITHIN = (
    cst.AssignTarget, cst.Tuple, cst.List, cst.Element, cst.StarredElement, cst.AsName, cst.WithItem,
    cst.ImportAlias, cst.Attribute,
)  # fmt: skip


class SurelyBound:
    """The places in one module at which its local variables are certainly bound."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[Variable, list[tuple[int, int]]] = {}

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
        return any(start <= at < end for start, end in self._ranges(variable))

    def _ranges(self, variable: Variable) -> list[tuple[int, int]]:
        known = self._known.get(variable)
        if known is None:
            spans = (self._range(o) for o in variable.occurrences if o.scope is variable.scope)
            known = self._known[variable] = [span for span in spans if span is not None]
        return known

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
