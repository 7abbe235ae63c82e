"""An attribute or method where another of the same receiver belongs."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope, attribute_of, text_of


class WrongAttribute(DoubtKind):
    """An attribute stands for another of the same receiver in the file, called or not, as it is itself."""

    id = "attribute"
    EXAMPLES = (
        DoubtExample(
            "def f(a):\n    a.low = 1\n    a.go()\n    a.stop()\n    return a.high\n",
            ("go -> stop", "stop -> go", "high -> low"),
        ),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        for node in scope.of("attribute"):
            read = attribute_of(node)
            if read is None or _bound(node):
                continue
            for other in scope.file.attributes[read[:2]]:
                if other != text_of(read[2]):
                    yield self.instead(read[2], other)


def _bound(node: tree_sitter.Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type == "assignment" and parent.child_by_field_name("left") == node
