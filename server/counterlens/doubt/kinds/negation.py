"""A missing negation, or a superfluous one."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of

_PLAIN = frozenset({"identifier", "call", "attribute", "subscript"})


class WrongNegation(DoubtKind):
    """A condition is replaced by its negation, and `-x` by `x`."""

    id = "negation"
    EXAMPLES = (
        DoubtExample("def f(a):\n    if a:\n        return 1\n", ("a -> not a",)),
        DoubtExample("def f(a):\n    if not a:\n        return 1\n", ("not a -> a",)),
        DoubtExample("def f(a, b):\n    return -b, a and b\n", ("-b -> b", "a -> not a", "b -> not b")),
        DoubtExample("def f(a):\n    return a[-1]\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        for node in scope.of("not_operator"):
            inner = node.child_by_field_name("argument")
            if inner is not None:
                yield self.instead(node, text_of(inner))
        for node in scope.of("unary_operator"):
            inner = node.child_by_field_name("argument")
            if inner is not None and inner.type in _PLAIN and node.children[0].type == "-":
                yield self.instead(node, text_of(inner))
        for node in scope.of("if_statement", "elif_clause", "while_statement"):
            condition = node.child_by_field_name("condition")
            if condition is not None and condition.type in _PLAIN:
                yield self.instead(condition, f"not {text_of(condition)}")
        for node in scope.of("boolean_operator"):
            for operand in node.named_children:
                if operand.type in _PLAIN:
                    yield self.instead(operand, f"not {text_of(operand)}")
