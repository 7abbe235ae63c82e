"""`rename-generic`: numbers a function's variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from counterlens.mutations.mutation import Example
from counterlens.mutations.names import numbered_names
from counterlens.mutations.parsed import FunctionSpan
from counterlens.python.mutations.mutation import PythonContext
from counterlens.python.mutations.renaming import Chooser, Locals, Renaming
from counterlens.python.mutations.variables import Variable


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

    def __init__(self, prefix: str = "var") -> None:
        super().__init__()
        self.prefix = prefix

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
