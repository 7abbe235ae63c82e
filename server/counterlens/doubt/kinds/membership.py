"""`in` and `not in`."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.operators import operators_in
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.operators import Family


class Membership(DoubtKind):
    """`in` is replaced by `not in`, and `not in` by `in`."""

    id = "membership"
    EXAMPLES = (DoubtExample("def f(a, b):\n    return a in b\n", ("in -> not in",)),)

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        for site, _ in operators_in(scope, Family.MEMBERSHIP):
            yield Alternative(self.id, site.start, site.end, "in" if site.operator == "not in" else "not in")
