"""Arguments and operands in the wrong order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import tree_sitter

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of

_ORDERED = frozenset({"-", "/", "//", "%", "**"})
_NAMED = frozenset({"keyword_argument", "list_splat", "dictionary_splat", "comment"})


class Order(DoubtKind):
    """Two adjacent arguments of a call, or the operands of `-` and similar operators, are swapped.

    For failing tests, also two elements of a tuple, a key and its value, two targets of an assignment or
    a loop, and the values of two keywords.
    """

    id = "order"
    EXAMPLES = (
        DoubtExample("def f(a, b):\n    return g(a, b)\n", ("a, b -> b, a",)),
        DoubtExample("def f(a, b):\n    return a - b\n", ("a - b -> b - a",)),
        DoubtExample("def f(a, b):\n    return a + b\n", ()),
        DoubtExample("def f(a, b):\n    g(a, a)\n    max(a, b)\n    '%s' % a\n", ()),
        DoubtExample("def f(a):\n    return {k: v for v, k in a}\n", ("k: v -> v: k", "v, k -> k, v")),
        DoubtExample("def f(a, b):\n    return g(x=a, y=b)\n", ("a, y=b -> b, y=a",)),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        for node in scope.of("argument_list"):
            called = node.parent.child_by_field_name("function") if node.parent is not None else None
            if called is not None and text_of(called) not in {"max", "min", "print"}:
                given = [argument for argument in node.named_children if argument.type not in _NAMED]
                for first, second in pairwise(given):
                    refuted = scope.file.argument_order.supports(node, first, second)
                    yield from self._swapped(scope, first, second, refuted=refuted)
            keywords = [
                argument.child_by_field_name("value")
                for argument in node.named_children
                if argument.type == "keyword_argument"
            ]
            for value, other in pairwise(filter(None, keywords)):
                yield from self._swapped(scope, value, other, refuted=True)
        for node in scope.of("expression_list", "tuple", "pattern_list", "tuple_pattern", "pair"):
            for first, second in pairwise(child for child in node.named_children if child.type != "comment"):
                yield from self._swapped(scope, first, second, refuted=True)
        for node in scope.of("binary_operator"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            operator = node.child_by_field_name("operator")
            if left is not None and right is not None and operator is not None and operator.type in _ORDERED:
                simple = {
                    "identifier",
                    "attribute",
                    "call",
                    "subscript",
                    "integer",
                    "parenthesized_expression",
                }
                if {left.type, right.type} <= simple:
                    yield from self._swapped(scope, left, right)

    def _swapped(
        self, scope: DoubtScope, first: tree_sitter.Node, second: tree_sitter.Node, *, refuted: bool = False
    ) -> Iterator[Alternative]:
        first_text, other = text_of(first), text_of(second)
        if (
            first_text != other
            and "\n" not in first_text + other
            and not {first.type, second.type} <= {"integer", "string"}
        ):
            between = scope.text(first.end_byte, second.start_byte)
            text = f"{other}{between}{first_text}"
            yield Alternative(self.id, first.start_byte, second.end_byte, text, refuted=refuted)
