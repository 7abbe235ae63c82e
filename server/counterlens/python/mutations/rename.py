"""`rename-random`, `rename-generic` and `rename-shuffle`: a function's variables get other names."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import libcst as cst

from counterlens.mutations.mutation import Example
from counterlens.mutations.parsed import FreshNames, FunctionSpan, numbered_names
from counterlens.python.mutations.module import FunctionNode, Module
from counterlens.python.mutations.mutation import PythonContext
from counterlens.python.mutations.renaming import Chooser, Locals, Renaming
from counterlens.python.mutations.variables import Role, ScopeKind, Variable

_TRIES = 12
_OF_A_PARAMETER = {Role.PARAMETER, Role.USE, Role.BIND, Role.AUGMENT}


class RenameRandom(Renaming):
    """Give each variable of a function a random name of five letters.

    Parameters, functions, classes, imports and module-level variables keep their names, because other code
    may use them; module-level variables of a whole program, which no other code imports, are renamed. A
    function that may look its variables up by name (`locals()`, `eval`, `f"{x=}"`) is refused.
    """

    id = "rename-random"
    source = "Hooda et al. 2024, section 3.3"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            def f(xs):
                total = 0
                for x in xs:
                    total += x
                return total
            """,
            after="""
            def f(xs):
                lhiel = 0
                for sjjza in xs:
                    lhiel += sjjza
                return lhiel
            """,
        ),
        Example(before="def f(x):\n    return x\n", refused="no variables besides its parameters"),
        Example(before="def f():\n    x = 1\n    return locals()\n", refused="by name"),
        Example(before="def f():\n    x = 1\n    return f'{x=}'\n", refused="shows the name of `x`"),
    )

    def chooser(self, context: PythonContext) -> Chooser:
        names = FreshNames(context.module, context.seed)

        def choose(function: FunctionSpan, variables: Locals) -> dict[Variable, str]:
            new = {name: names.draw(self.id, function.qualname, name) for name in variables.names}
            return {variable: new[variable.name] for variable in variables.safe}

        return choose


@dataclass(eq=False)
class RenameGeneric(Renaming):
    """Name the variables of a function `var1`, `var2` and so on, in the order in which they appear.

    The renamed variables and the refusals are those of `rename-random`. `RenameGeneric("VAR")` writes `VAR1`
    and so on.
    """

    id = "rename-generic"
    source = "Ahmed et al. 2024, section 3.2; Nguyen et al. 2024, Table 1"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            def f(xs):
                total = 0
                for x in xs:
                    total += x
                return total
            """,
            after="""
            def f(xs):
                var1 = 0
                for var2 in xs:
                    var1 += var2
                return var1
            """,
        ),
        Example(
            before="""
            def f(xs):
                def g():
                    nonlocal n
                    n += 1
                n = var1 = 0
                return g
            """,
            after="""
            def f(xs):
                def g():
                    nonlocal var2
                    var2 += 1
                var2 = var3 = 0
                return g
            """,
            refused="no variables",
        ),
        Example(
            before="""
            def f(p):
                match p:
                    case {"x": x, **rest}:
                        return [y for y in rest if (z := y)], z
            """,
            after="""
            def f(p):
                match p:
                    case {"x": var1, **var2}:
                        return [var3 for var3 in var2 if (var4 := var3)], var4
            """,
        ),
        Example(before="def f(x):\n    return x\n", refused="no variables besides its parameters"),
        Example(before="def f(k):\n    x = 1\n    return eval(k)\n", refused="by name"),
    )

    prefix: str = "var"

    def chooser(self, context: PythonContext) -> Chooser:
        numbers: Iterator[str] = iter(())
        end = -1

        def choose(function: FunctionSpan, variables: Locals) -> dict[Variable, str]:
            nonlocal numbers, end
            if function.start >= end:  # nested functions share the numbers of the outer one
                numbers, end = numbered_names(context.module, self.prefix), function.end
            new = {name: next(numbers) for name in variables.names}
            return {variable: new[variable.name] for variable in variables.safe}

        return choose


class RenameShuffle(Renaming):
    """Permute the names among the variables of a function, so that none keeps its own.

    The only variable of a function takes the name of a variable or parameter of another function in
    the file; if there is none, its name is swapped with a parameter's, which assumes that callers pass that
    by position (`positional-arguments`). Otherwise the renamed variables and the refusals are those of
    `rename-random`.
    """

    id = "rename-shuffle"
    permutes = True
    source = "Hooda et al. 2024, section 3.3"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="def f(xs):\n    total = 0\n    for x in xs:\n        total += x\n    return total\n",
            after="def f(xs):\n    x = 0\n    for total in xs:\n        x += total\n    return x\n",
        ),
        Example(
            before="def f(xs):\n    n = len(xs)\n    return n\n",
            after="def f(n):\n    xs = len(n)\n    return xs\n",
        ),
        Example(before="def f():\n    n = g()\n    return n\n", refused="only one"),
        Example(
            before="def f(x):\n    a = b = 1\n    return eval(x)\n",
            refused="by name",
        ),
    )

    def chooser(self, context: PythonContext) -> Chooser:
        variables = (v for scope in context.module.scopes.all() for v in scope.variables.values())
        named = (v.name for v in variables if v.roles & {Role.BIND, Role.PARAMETER})
        others = dict.fromkeys(() if self.published else named)
        pool = [name for name in others if not name.startswith("__")]

        def choose(function: FunctionSpan, variables: Locals) -> dict[Variable, str] | str:
            chance = random.Random(repr((context.seed, self.id, function.qualname)))  # noqa: S311
            for new in islice(_proposals(variables, pool, chance), _TRIES):
                chosen = {variable: new[variable.name] for variable in variables.safe}
                if context.module.scopes.clash(chosen, variables.scope) is None:
                    return chosen
            swapped = None
            if not self.published and isinstance(function, FunctionNode):
                swapped = _with_parameter(context.module, function, variables)
            if swapped is None and len(variables.names) > 1:
                return "swapping the names of its variables would change what they refer to"
            return swapped or "there is only one variable whose name could be swapped"

        return choose


def _proposals(variables: Locals, pool: list[str], chance: random.Random) -> Iterator[dict[str, str]]:
    """New names by old ones: permutations without fixed points; names from `pool` for a single variable."""
    names = list(variables.names)
    if len(names) == 1:
        others = [name for name in pool if name != names[0]]
        chance.shuffle(others)
        yield from ({names[0]: other} for other in others)
        return
    while True:
        chance.shuffle(names)
        yield dict(zip(names, names[1:] + names[:1], strict=True))


def _with_parameter(module: Module, function: FunctionNode, variables: Locals) -> dict[Variable, str] | None:
    """Swap the names of the only variable and a parameter, if no other function provides a name."""
    if function.node.decorators or (
        variables.scope.parent and variables.scope.parent.kind is ScopeKind.CLASS
    ):
        return None
    keywords = {arg.keyword.value for arg in module.nodes(cst.Arg) if arg.keyword is not None}
    name = variables.names[0]
    for param in function.node.params.params:
        variable = module.scopes.variable(param.name)
        if variable is None or variable.name in keywords or variable.roles - _OF_A_PARAMETER:
            continue
        if not any(occurrence in module.scopes.shown for occurrence in variable.occurrences):
            chosen = {**dict.fromkeys(variables.safe, variable.name), variable: name}
            if module.scopes.clash(chosen, variables.scope) is None:
                return chosen
    return None
