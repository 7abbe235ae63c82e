"""Uses of variables that no occurrence of their names shows.

Code may look variables up by name (`python/dependence/lookups.py`), or give a text with their names to a
library that does (`named_in_text.py`).
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import libcst as cst

from counterlens.errors import SourceError
from counterlens.python.dependence.lookups import Lookup, Lookups, find_lookups, has_lookups
from counterlens.python.dependence.program import parse
from counterlens.python.mutations.module import FunctionNode, Module
from counterlens.python.mutations.named_in_text import TextNames
from counterlens.python.mutations.variables import Role, Scope, Variable

_EXPOSING = {
    "modules", "__dict__", "__import__", "import_module", "vars", "__globals__", "f_globals", "__main__",
}  # fmt: skip
"""Ways to the variables of a module."""
BY_NAME = "the function may look its variables up by name"


@lru_cache(maxsize=4)
def unseen_uses(module: Module) -> UnseenUses:
    """The unseen uses of the variables of a module, computed once."""
    return UnseenUses(module)


def by_text(name: str) -> str:
    """The reason why a variable whose name stands in a text must keep it."""
    return f"the code that gets a text with the word `{name}` may look the variable up by name"


class UnseenUses:
    """The uses of the variables of one module that no occurrence shows.

    Attributes:
        texts: The names in texts.
        everywhere: Whether code may look up the variables of any function.
        exposes_module: Whether code may access the module's variables by name.
        evaluates: Whether code may look up variables of any scope by name, such as `eval`.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self.texts = TextNames(module)
        self._functions: dict[FunctionNode | None, tuple[frozenset[str], frozenset[str], frozenset[str]]] = {}
        lookups = _lookups(module.source)
        self._kinds: dict[int, Lookup] = {}
        self._first: dict[int, str] = {}
        for node, kind in lookups.at.items():
            at = module.positions.line_start(node.lineno - 1) + node.col_offset  # type: ignore[attr-defined]
            self._kinds[at] = max(kind, self._kinds.get(at, kind))
            if node in lookups.first:
                self._first[at] = lookups.first[node]
        self.everywhere = lookups.everywhere
        self.exposes_module = Lookup.GLOBALS in self._kinds.values() or bool(_EXPOSING & module.words)
        self.evaluates = self.everywhere or Lookup.LOCALS in self._kinds.values()
        self._dynamic = {self._scope_at(at) for at, kind in self._kinds.items() if kind is Lookup.LOCALS}

    def by_name(self, scope: Scope) -> bool:
        """Whether code in a scope, or nested in it, may look the scope's variables up by name."""
        return self.everywhere or any(inner in self._dynamic for inner in scope.inside())

    def reads(self, node: cst.CSTNode) -> tuple[set[Variable], bool]:
        """The variables that a node uses unseen, and whether it may also change them."""
        if isinstance(node, cst.Call) and node in self.texts.read_by:
            return self.texts.read_by[node], False
        if not self._kinds or not isinstance(node, cst.BaseExpression):
            return set(), False
        at = self._module.start(node)
        kind = self._kinds.get(at)
        if kind is None:
            return set(), False
        scope = self._scope_at(at)
        around = [s for s in (scope, *scope.around()) if s.is_function]
        variables = {variable for s in around for variable in s.variables.values()}
        if kind is Lookup.LOCALS:
            return variables, True
        first = self._first.get(at)
        return {v for v in variables if v.name == first and Role.PARAMETER in v.roles}, False

    def outermost(self, offset: int) -> FunctionNode | None:
        """The outermost function around an offset."""
        outer = function = self._module.function_at(offset)
        while function is not None:
            outer = function
            function = self._module.function_around(function)
        return outer

    def in_function(
        self, function: FunctionNode | None
    ) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """Names in an outermost function: looked up; in texts that are read; in texts that are kept."""
        known = self._functions.get(function)
        if known is None:
            known = self._functions[function] = self._names_in(function)
        return known

    def _names_in(
        self, function: FunctionNode | None
    ) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        if function is None:
            return frozenset(), frozenset(), frozenset()
        scopes = [s for s in self._module.scopes.of_node[function.node].inside() if s.is_function]
        variables = [v for s in scopes for v in s.variables.values()]
        looked_up = {v.name for s in scopes if self.by_name(s) for v in s.variables.values()}
        if self._first:  # `super()` reads what its parameter is bound to now
            looked_up |= {
                v.name for v in variables if v.name in self._first.values() and Role.BIND in v.roles
            }
        texts = {v.name for v in variables if v in self.texts.named}
        stored = {v.name for v in variables if v in self.texts.stored} - texts
        return frozenset(looked_up), frozenset(texts), frozenset(stored)

    def _scope_at(self, offset: int) -> Scope:
        """The scope of the code at an offset: of the name there, or the innermost one around it."""
        scope = self._scopes_of_names.get(offset)
        if scope is not None:
            return scope
        scopes, spans = self._module.scopes, self._module.span
        around = [s for s in scopes.all() if spans(s.node)[0] <= offset < spans(s.node)[1]]
        return around[-1] if around else scopes.module

    @cached_property
    def _scopes_of_names(self) -> dict[int, Scope]:
        start = self._module.start
        return {start(o.node): o.scope for s in self._module.scopes.all() for o in s.occurrences}


def _lookups(source: str) -> Lookups:
    """The lookups of a source; those of a later Python's syntax may be anywhere."""
    try:
        return find_lookups(parse(source), source)
    except SourceError:
        return Lookups(everywhere=has_lookups(source))
