"""An attribute or method where another of the same receiver belongs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import tree_sitter

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope, text_of


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
        known: dict[tuple[str, bool], dict[str, None]] = defaultdict(dict)
        for node in scope.everywhere:
            read = _read(node)
            if read is not None:
                known[read[0]][text_of(read[1])] = None
        for node in scope.of("attribute"):
            read = _read(node)
            if read is None or _bound(node):
                continue
            for other in known[read[0]]:
                if other != text_of(read[1]):
                    yield self.instead(read[1], other)


def _read(node: tree_sitter.Node) -> tuple[tuple[str, bool], tree_sitter.Node] | None:
    """Receiver and whether it is called, and the attribute's name."""
    receiver, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
    if node.type != "attribute" or receiver is None or name is None or receiver.type != "identifier":
        return None
    parent = node.parent
    called = parent is not None and parent.type == "call" and parent.child_by_field_name("function") == node
    return (text_of(receiver), called), name


def _bound(node: tree_sitter.Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type == "assignment" and parent.child_by_field_name("left") == node
