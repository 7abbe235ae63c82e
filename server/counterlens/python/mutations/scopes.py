"""Name resolution by Python's scopes and bindings, on a LibCST tree.

The rules are those of the language reference (4.2 Naming and binding) and of PEP 227, 572, 634 and 695. The
tests compare the result with CPython's `symtable` on the standard library.

`python/dependence/scopes.py` implements the same rules on `ast`, and neither can replace the other: `ast` has
no position for many names that a renaming must find (of a `def`, an import, `except … as`, `global`, a
capture), and parsing with LibCST takes several times as long as the whole dependence analysis on `ast`.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from counterlens.python.mutations.occurrences import find_occurrences
from counterlens.python.mutations.variables import Occurrence, Role, Scope, ScopeKind, Variable

_MAKES_LOCAL = frozenset(Role) - {Role.USE, Role.DECLARE}


class Scopes:
    """The scopes of a tree, and the variable that each name refers to.

    Attributes:
        module: The module's scope, which contains the others.
        of_node: The scope that each node opens.
        occurrence: The occurrence at each name's node.
        shown: Occurrences whose text is shown at run time, as in `f"{x=}"`.
    """

    def __init__(self, tree: cst.Module) -> None:
        occurrences = find_occurrences(tree)
        self.module, self.of_node, self.occurrence = (
            occurrences.module,
            occurrences.of_node,
            occurrences.occurrence,
        )
        self.shown = occurrences.shown
        for scope in self.module.inside():
            self._bind(scope)
        for scope in self.module.inside():
            for occurrence in scope.occurrences:
                self._resolve(occurrence)

    def all(self) -> Iterator[Scope]:
        """All scopes, outer ones first."""
        return self.module.inside()

    def variable(self, node: cst.CSTNode) -> Variable | None:
        """The variable to which a name refers; None for a builtin and for other nodes."""
        occurrence = self.occurrence.get(node) if isinstance(node, cst.Name) else None
        return occurrence.variable if occurrence else None

    def builtin(self, node: cst.CSTNode) -> str | None:
        """The builtin to which a name refers; None if the file may shadow it."""
        if not isinstance(node, cst.Name) or self.module.stars:
            return None
        occurrence = self.occurrence.get(node)
        return node.value if occurrence is not None and occurrence.variable is None else None

    def hides(self, name: str, scope: Scope) -> bool:
        """Whether a scope may shadow the builtin of a name."""
        return self.module.stars or any(name in seen.variables for seen in (scope, *scope.around()))

    def clash(self, renamed: dict[Variable, str], root: Scope) -> str | None:
        """A name that would refer to another variable after a renaming; None if there is none.

        Args:
            renamed: The new names of variables, all of them in scopes inside `root`.
            root: A scope that contains all their occurrences.
        """
        after: dict[Scope, list[str]] = {}
        for scope in {variable.scope for variable in renamed}:
            after[scope] = names = [renamed.get(v, v.name) for v in scope.variables.values()]
            if len(set(names)) < len(names):
                return next(name for name in names if names.count(name) > 1)
        concerned = set(renamed.values()) | {variable.name for variable in renamed}
        for scope in root.inside():
            for occurrence in scope.occurrences:
                variable = occurrence.variable
                name = renamed.get(variable, occurrence.name) if variable else occurrence.name
                if name in concerned and self._captured(occurrence, name, after):
                    return name
        return None

    @staticmethod
    def _captured(occurrence: Occurrence, name: str, after: dict[Scope, list[str]]) -> bool:
        """Whether a scope between an occurrence and its variable's scope would bind the name."""
        owner = occurrence.variable.scope if occurrence.variable else None
        if name in occurrence.scope.globals:
            return False
        scope: Scope | None = occurrence.scope
        while scope is not None and scope is not owner:
            names = after.get(scope)
            visible = scope is occurrence.scope or scope.kind is not ScopeKind.CLASS
            if visible and (name in names if names is not None else name in scope.variables):
                return True
            scope = scope.parent
        return False

    def _bind(self, scope: Scope) -> None:
        for occurrence in scope.occurrences:
            name = occurrence.name
            if occurrence.role in _MAKES_LOCAL:
                owner = self._owner(scope, name)
                if owner is None:
                    continue
                if name not in owner.variables:
                    owner.variables[name] = Variable(name, owner)
        for name in scope.globals:
            if name not in self.module.variables:
                self.module.variables[name] = Variable(name, self.module)

    def _owner(self, scope: Scope, name: str) -> Scope | None:
        """The scope of the variable that a binding creates; None for a name that is declared nonlocal."""
        while name in scope.nonlocals and scope.kind is ScopeKind.COMPREHENSION and scope.parent is not None:
            scope = scope.parent
        if name in scope.globals:
            return self.module
        return None if name in scope.nonlocals else scope

    def _resolve(self, occurrence: Occurrence) -> None:
        name, scope = occurrence.name, occurrence.scope
        binding: Variable | None = None
        if name in scope.globals:
            binding = self.module.variables.get(name)
        else:
            if name not in scope.nonlocals:
                binding = scope.variables.get(name)
            for outer in scope.around():
                if binding is not None:
                    break
                if name in outer.globals:
                    binding = self.module.variables.get(name)
                elif outer.kind is not ScopeKind.CLASS:
                    binding = outer.variables.get(name)
        occurrence.variable = binding
        if binding is not None:
            binding.occurrences.append(occurrence)
