"""`rename-shuffle`: a function's variables exchange their names."""

from __future__ import annotations

import random
from typing import ClassVar

from counterlens.mutations.module import Function, Module
from counterlens.mutations.mutation import Context, Example
from counterlens.mutations.naming import Locals, local_variables
from counterlens.mutations.renaming import Chooser, Renaming
from counterlens.mutations.scopes import Variable


class RenameShuffle(Renaming):
    """Permute the names among the variables of a function, so that none keeps its own.

    Where a function has one variable only, it takes the name of a variable of another function in the file.
    What is renamed and what is refused is otherwise the same as for `rename-random`.
    """

    id = "rename-shuffle"
    source = "paper 000, section 3.3"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="def f(xs):\n    total = 0\n    for x in xs:\n        total += x\n    return total\n",
            after="def f(xs):\n    x = 0\n    for total in xs:\n        x += total\n    return x\n",
        ),
        Example(before="def f(xs):\n    n = len(xs)\n    return n\n", refused="only one"),
        Example(
            before="def f(x):\n    a = b = 1\n    return eval(x)\n",
            refused="by name",
        ),
    )

    def chooser(self, context: Context) -> Chooser:
        pool: list[str] = []

        def choose(function: Function, found: Locals) -> dict[Variable, str] | str:
            names = list(found.names)
            chance = random.Random(repr((context.seed, self.id, function.qualname)))  # noqa: S311
            if len(names) < 2:
                pool.extend(_all_names(context.module) if not pool else ())
                others = [name for name in pool if name != names[0]]
                chance.shuffle(others)
                for other in others[:_TRIES]:
                    chosen = dict.fromkeys(found.safe, other)
                    if context.module.scopes.clash(chosen, found.scope) is None:
                        return chosen
                return "there is only one variable whose name could be exchanged"
            chance.shuffle(names)
            permuted = dict(zip(names, names[1:] + names[:1], strict=True))
            return {variable: permuted[variable.name] for variable in found.safe}

        return choose


_TRIES = 8


def _all_names(module: Module) -> list[str]:
    safe = (variable for function in module.functions for variable in local_variables(module, function).safe)
    return list(dict.fromkeys(variable.name for variable in safe))
