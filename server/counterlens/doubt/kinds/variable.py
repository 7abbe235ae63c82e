"""A variable instead of another one of the same role."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope, around
from counterlens.syntax.definitions import text_of


class WrongVariable(DoubtKind):
    """A variable is replaced by another that the function has bound before; indices are a separate kind.

    For failing tests, also by one that is bound elsewhere in it, or at the top of the module.
    """

    id = "variable"
    EXAMPLES = (
        DoubtExample("def f(a, b):\n    return a\n", ("a -> b",)),
        DoubtExample("def f(a):\n    b = a\n    return b\n", ("b -> a",)),
        DoubtExample("def f(a, i):\n    return a[i]\n", ("a -> i",)),
        DoubtExample("A = 1\nB = 2\ndef f(a):\n    return A\n", ("A -> a", "A -> B")),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        for node in scope.uses():
            if index_of(node):
                continue
            own = text_of(node)
            for other, bound in scope.variables.items():
                if other != own and bound < node.start_byte and not _inside(scope, node.start_byte, other):
                    yield self.instead(node, other)
        yield from self._unbound(scope)

    def _unbound(self, scope: DoubtScope) -> Iterator[Alternative]:
        """Variables of the module, and those of the function that are bound only after the use."""
        of_module = scope.file.variables
        local = list(scope.uses())
        for node in local + [each for each in scope.reads if text_of(each) in of_module]:
            own = text_of(node)
            others = dict.fromkeys((*scope.variables, *of_module) if own in of_module else scope.variables)
            for other in others:
                here = other in scope.variables and _inside(scope, node.start_byte, other)
                if other != own and not here and not index_of(node):
                    yield Alternative(self.id, node.start_byte, node.end_byte, other, refuted=True)


def index_of(node: object) -> bool:
    """Whether an identifier is an index or a key."""
    parent = getattr(node, "parent", None)
    return (
        parent is not None
        and parent.type == "subscript"
        and any(index == node for index in parent.children_by_field_name("subscript"))
    )


def _inside(scope: DoubtScope, at: int, name: str) -> bool:
    """Whether a byte is in the assignment that first binds a name."""
    node = scope.document.tree.root_node.descendant_for_byte_range(at, at + 1)
    assignment = around(node, "assignment") if node is not None else None
    return assignment is not None and assignment.start_byte == scope.variables[name]
