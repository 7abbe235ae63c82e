"""An attribute or method instead of another one of the same receiver."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.attribute_use import TARGET, attribute_use
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of


class WrongAttribute(DoubtKind):
    """An attribute is replaced by another of the same receiver with similar use in the file.

    A condition for a condition, a method for one that is called with as many arguments.
    """

    id = "attribute"
    EXAMPLES = (
        DoubtExample(
            "def f(a):\n    a.low = 1\n    a.go()\n    a.stop()\n    return a.high\n",
            ("go -> stop", "stop -> go", "high -> low"),
        ),
        DoubtExample(
            "def f(a):\n    a.go(1)\n    a.stop()\n    if a.on:\n        return a.high\n    return a.low\n",
            ("high -> low", "low -> high"),
        ),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        for node in scope.of("attribute"):
            used = attribute_use(node)
            if used is None or used.role == TARGET:
                continue
            for other, roles in scope.file.attributes[text_of(used.receiver)].items():
                if other != text_of(used.name) and used.allows(roles):
                    yield self.instead(used.name, other)
