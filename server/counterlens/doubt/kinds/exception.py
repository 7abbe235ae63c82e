"""A wrong class of exception."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of

_COMMON = ("ValueError", "TypeError", "KeyError", "IndexError", "AttributeError", "OSError", "RuntimeError")


class WrongException(DoubtKind):
    """A built-in class that is caught or raised is replaced by another common one."""

    id = "exception"
    EXAMPLES = (
        DoubtExample(
            "def f(a):\n    try:\n        return a[0]\n    except KeyError:\n        return None\n",
            tuple(f"KeyError -> {name}" for name in _COMMON if name != "KeyError"),
        ),
        DoubtExample("def f(a):\n    raise OwnError(a)\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        for node in scope.of("except_clause", "raise_statement"):
            for name in _classes(node):
                if text_of(name) in _COMMON:
                    caught = {text_of(class_node) for class_node in _classes(node)}
                    yield from (
                        self.instead(name, exception) for exception in _COMMON if exception not in caught
                    )


def _classes(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """The names of caught or raised classes."""
    value = node.child_by_field_name("value") or next(iter(node.named_children), None)
    if value is not None and value.type == "as_pattern":
        value = value.named_children[0]
    if value is not None and value.type == "call":
        value = value.child_by_field_name("function")
    if value is None or value.type == "block":
        return []
    return [
        name
        for name in (value.named_children if value.type == "tuple" else [value])
        if name.type == "identifier"
    ]
