"""`rename-random`: gives a function's variables random names."""

from __future__ import annotations

from typing import ClassVar

from counterlens.mutations.mutation import Example
from counterlens.mutations.names import FreshNames
from counterlens.mutations.parsed import FunctionSpan
from counterlens.python.mutations.mutation import PythonContext
from counterlens.python.mutations.renaming import Chooser, Locals, Renaming
from counterlens.python.mutations.variables import Variable


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
