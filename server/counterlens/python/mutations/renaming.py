"""Base class of the renaming mutations: one site for each function, with all of its own variables."""

from __future__ import annotations

import builtins
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import POSITIONAL_ARGUMENTS, Concept
from counterlens.mutations.edits import Edit, replace
from counterlens.mutations.mutation import Site, SiteRefused
from counterlens.mutations.parsed import FunctionSpan, renaming_described
from counterlens.python.mutations.lookups import lookups_in
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.variables import Role, Scope, ScopeKind, Variable

_OF_A_VARIABLE = frozenset({Role.USE, Role.BIND, Role.AUGMENT, Role.DELETE, Role.ANNOTATE, Role.DECLARE})
_TAKE_A_KEY = {"sorted", "min", "max"}


@dataclass(frozen=True, slots=True)
class Locals:
    """The variables of one function, without parameters, nested functions, classes and imports.

    A lambda's parameters are included if a builtin calls the lambda by position, as `sorted` does its key.

    Attributes:
        scope: The function's own scope.
        safe: Those that can be renamed, by their first occurrence.
        refused: Those that cannot be renamed, with the reasons.
    """

    scope: Scope
    safe: tuple[Variable, ...]
    refused: tuple[tuple[Variable, str], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names that can be replaced, by their first occurrence; several variables may share one."""
        return tuple(dict.fromkeys(variable.name for variable in self.safe))


def local_variables(module: Module, scope: Scope, *, lambdas: bool = True) -> Locals:
    """The variables that one function or a whole program binds itself, those of comprehensions included.

    Args:
        scope: The scope of the function, or of the module.
        lambdas: Whether parameters of a lambda that a builtin calls by position count as variables.
    """
    safe: list[Variable] = []
    refused: list[tuple[Variable, str]] = []
    for owner in own_scopes(scope):
        for variable in owner.variables.values():
            roles = variable.roles
            if lambdas and owner.kind is ScopeKind.LAMBDA and _called_by_position(module, owner.node):
                roles = roles - {Role.PARAMETER} | {Role.BIND}
            if not roles & {Role.BIND, Role.AUGMENT} or not roles <= _OF_A_VARIABLE:
                continue
            if any(occurrence in module.scopes.shown for occurrence in variable.occurrences):
                refused.append((variable, f"an f-string shows the name of `{variable.name}`"))
            elif variable.name.startswith("__"):
                refused.append((variable, f"`{variable.name}` is a name with a special meaning"))
            elif owner.kind is ScopeKind.MODULE and (reason := why_kept(module, variable)):
                refused.append((variable, reason))
            else:
                safe.append(variable)
    safe.sort(key=lambda variable: first_offset(module, variable))
    return Locals(scope, tuple(safe), tuple(refused))


def why_kept(module: Module, variable: Variable) -> str | None:
    """Why a variable of a whole program must keep its name: another meaning may stand behind it."""
    lookups = lookups_in(module)
    if lookups.exposes_module or lookups.anywhere:
        return "the program may look its variables up by name"
    if module.scopes.module.stars:
        return f"a star import may bind `{variable.name}`, too"
    if hasattr(builtins, variable.name):
        return f"`{variable.name}` is also the name of a builtin"
    return None


def _called_by_position(module: Module, node: cst.CSTNode) -> bool:
    """Whether a lambda is passed directly to a builtin that calls it by position."""
    argument = module.parent(node)
    call = module.parent(argument)
    if not isinstance(argument, cst.Arg) or not isinstance(call, cst.Call):
        return False
    if argument.keyword is not None:
        sorts = module.scopes.builtin(call.func) in _TAKE_A_KEY
        return argument.keyword.value == "key" and sorts
    return module.scopes.builtin(call.func) in {"map", "filter"} and call.args[0] is argument


def own_scopes(scope: Scope) -> Iterator[Scope]:
    """A function's scope and those of its comprehensions and lambdas, without nested functions."""
    yield scope
    for child in scope.children:
        if child.kind in {ScopeKind.COMPREHENSION, ScopeKind.LAMBDA}:
            yield from own_scopes(child)


def first_offset(module: Module, variable: Variable) -> int:
    """The offset of the first occurrence of a variable."""
    return min(module.start(occurrence.node) for occurrence in variable.occurrences)


def renaming(module: Module, renamed: dict[Variable, str]) -> tuple[Edit, ...]:
    """The edits that rename variables at all their occurrences."""
    return tuple(
        replace(*module.span(occurrence.node), name)
        for variable, name in renamed.items()
        for occurrence in variable.occurrences
    )


Chooser = Callable[[FunctionSpan, Locals], dict[Variable, str] | str]
"""Chooses the new names of the variables of a function or program, or says why there are none."""


@dataclass(eq=False)
class Renaming(PythonMutation):
    """Renames all variables of a function at the same time.

    Parameters keep their names, because callers may use them; so do functions, classes, imports and
    module-level variables, which other modules may import; the latter are renamed in a whole program.

    Args:
        published: Rename only the variables of Hooda et al. 2024, section 3.3: no parameters of lambdas.
    """

    concept: ClassVar[Concept] = Concept.NAMING
    permutes: ClassVar[bool] = False  # whether the new names are names of the function already

    published: bool = field(default=False, kw_only=True)

    @abstractmethod
    def chooser(self, context: PythonContext) -> Chooser:
        """Return the chooser of new names for one module."""

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        choose = self.chooser(context)
        owners: list[tuple[FunctionSpan, Scope]] = [
            (function, module.scopes.of_node[function.node]) for function in module.functions
        ]
        if self.whole_program:
            owners.insert(0, (module.program, module.scopes.module))
        for function, scope in owners:
            variables = local_variables(module, scope, lambdas=not self.published)
            for variable, reason in variables.refused:
                yield SiteRefused(first_offset(module, variable), reason)
            if not variables.safe:
                if not variables.refused:
                    yield SiteRefused(function.start, "the function has no variables besides its parameters")
                continue
            chosen = choose(function, variables)
            if isinstance(chosen, str):
                yield SiteRefused(function.start, chosen)
                continue
            clash = module.scopes.clash(chosen, variables.scope)
            if clash is not None:
                yield SiteRefused(function.start, f"`{clash}` would mean another variable")
                continue
            span = function.start, function.end
            named = any(v.scope is variables.scope and Role.PARAMETER in v.roles for v in chosen)
            yield Site(
                span,
                renaming_described((variable.name, name) for variable, name in chosen.items()),
                renaming(module, chosen),
                assumptions=(POSITIONAL_ARGUMENTS,) if named else (),
                sole=self.permutes,
            )
