"""`and` and `or`."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.operators import operators_in
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.operators import Family


class Boolean(DoubtKind):
    """`and` is replaced by `or`, and `or` by `and`."""

    id = "boolean"
    EXAMPLES = (DoubtExample("def f(a, b):\n    return a and b\n", ("and -> or",)),)

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        for site, _ in operators_in(scope, Family.BOOLEAN):
            yield Alternative(self.id, site.start, site.end, "or" if site.operator == "and" else "and")
