"""Base class of the renaming mutations: one site for each function, with all of its own variables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar

from counterlens.mutations.assumptions import POSITIONAL_ARGUMENTS
from counterlens.mutations.base import Concept
from counterlens.mutations.mutation import Site, SiteRefused
from counterlens.mutations.names import renaming_described
from counterlens.mutations.parsed import FunctionSpan
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.naming import Locals, first_offset, local_variables, renaming
from counterlens.python.mutations.variables import Role, Scope, Variable

Chooser = Callable[[FunctionSpan, Locals], dict[Variable, str] | str]
"""Chooses the new names of the variables of a function or program, or says why there are none."""


class Renaming(PythonMutation):
    """Renames all variables of a function at the same time.

    Parameters keep their names, because callers may use them; so do functions, classes, imports and
    module-level variables, which other modules may import; the latter are renamed in a whole program.

    Args:
        published: Rename only the variables of Hooda et al. 2024, section 3.3: no parameters of lambdas.
    """

    concept: ClassVar[Concept] = Concept.NAMING
    permutes: ClassVar[bool] = False  # whether the new names are names of the function already

    def __init__(self, *, published: bool = False) -> None:
        self.published = published

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
