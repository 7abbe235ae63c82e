"""`rename-random`, `rename-shuffle` and `rename-generic` for Java."""

from __future__ import annotations

import random
from typing import ClassVar

from counterlens.java.mutations.mutation import JavaContext
from counterlens.java.mutations.renaming import JavaRenaming, derangement
from counterlens.mutations.mutation import Example
from counterlens.mutations.names import FreshNames, numbered_names
from counterlens.mutations.parsed import FunctionSpan

_BEFORE = """
class A {
    int total;
    int f(int[] xs) {
        int sum = 0;
        for (int x : xs) sum += x;
        return this.total + sum;
    }
}
"""
_FIELD = Example(
    before="class A { int x; int f(int y) { { int x = 1; g(x, y); } return x; } }",
    after=None,
    refused="also means something else",
)


class JavaRenameRandom(JavaRenaming):
    """Give each variable and parameter of a method a random name of five letters.

    Java passes no argument by name. Names are kept if the method also uses them for a field, if a class
    inside it uses them, if a pattern binds them, or if an annotation may read them.
    """

    id = "rename-random"
    source = "Hooda et al. 2024, section 3.3"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before=_BEFORE,
            after="""
            class A {
                int total;
                int f(int[] wqnhq) {
                    int nvoov = 0;
                    for (int nzwfw : wqnhq) nvoov += nzwfw;
                    return this.total + nvoov;
                }
            }
            """,
        ),
        Example(
            before="class A { Object f(final int x) { return new B() { int g() { return x; } }; } }",
            refused="a class inside the method",
        ),
        Example(before="class A { void f() { g(); } }", refused="no variables"),
    )

    def choose(self, context: JavaContext, function: FunctionSpan, names: list[str]) -> dict[str, str]:
        fresh = FreshNames(context.module, context.seed)
        return {name: fresh.draw(self.id, function.qualname, name) for name in names}


class JavaRenameShuffle(JavaRenaming):
    """Permute the names among the variables and parameters of a method, so that none keeps its own.

    The renamed variables and the refusals are those of `rename-random`.
    """

    id = "rename-shuffle"
    source = "Hooda et al. 2024, section 3.3"
    refusal = "the method has fewer than two names that could be swapped"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="class A { int f(int a) { int b = a; return b - this.b; } }",
            after="class A { int f(int b) { int a = b; return a - this.b; } }",
        ),
        Example(before="class A { int f(int a) { return a; } }", refused="fewer than two names"),
        Example(
            before="class A { int f(Object o, int i) { if (o instanceof B b) return i; return 0; } }",
            after="class A { int f(Object i, int o) { if (i instanceof B b) return o; return 0; } }",
            refused="bound by a pattern",
        ),
    )

    def choose(self, context: JavaContext, function: FunctionSpan, names: list[str]) -> dict[str, str]:
        chance = random.Random(repr((context.seed, self.id, function.qualname)))  # noqa: S311
        return derangement(names, chance) if len(names) > 1 else {}


class JavaRenameGeneric(JavaRenaming):
    """Name the variables and parameters of a method `var1`, `var2` and so on, as they appear.

    The renamed variables and the refusals are those of `rename-random`.
    """

    id = "rename-generic"
    source = "Ahmed et al. 2024, section 3.2; Nguyen et al. 2024, Table 1"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="class A { int f(int n) { Op p = k -> k + n; l: for (;;) break l; return p.at(n); } }",
            after="class A { int f(int var1) { Op var2 = var3 -> var3 + var1; l: for (;;) break l; "
            "return var2.at(var1); } }",
        ),
        Example(
            before="class A { int x; int f(int y) { { int x = 1; g(x, y); } return x; } }",
            after="class A { int x; int f(int var1) { { int x = 1; g(x, var1); } return x; } }",
            refused="also means something else",
        ),
        Example(
            before='class A { @Path("/") void f(@Query int n) { g(n); } }', refused="an annotation may read"
        ),
        Example(
            before="class A { void f(B b, int c) { switch (b) { case c: g(c); } } }",
            after="class A { void f(B var1, int c) { switch (var1) { case c: g(c); } } }",
            refused="used in a case",
        ),
    )

    def __init__(self, prefix: str = "var") -> None:
        self.prefix = prefix

    def choose(
        self,
        context: JavaContext,
        function: FunctionSpan,  # noqa: ARG002
        names: list[str],
    ) -> dict[str, str]:
        return dict(zip(names, numbered_names(context.module, self.prefix), strict=False))
