"""Conditions: a negation that is missing or superfluous, and swapped branches."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of

_PLAIN = frozenset({"identifier", "call", "attribute", "subscript"})
_QUESTION = "are its two branches swapped?"


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


class Branches(DoubtKind):
    """The two branches of an `if` with an `else`, or of a conditional expression, are swapped."""

    id = "branches"
    EXAMPLES = (
        DoubtExample("def f(a, b, c):\n    return a if c else b\n", ("a if c else b -> b if c else a",)),
        DoubtExample(
            "def f(c):\n    if c:\n        g()\n    else:\n        h()\n",
            ("g() else: h() -> h() else: g()",),
        ),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        for node in scope.of("conditional_expression"):
            parts = [part for part in node.named_children if part.type != "comment"]
            if len(parts) == 3 and text_of(parts[0]) != text_of(parts[2]):
                yield self.instead(node, scope.swap(parts[0], parts[2]))
        for node in scope.of("if_statement"):
            then, others = node.child_by_field_name("consequence"), node.children_by_field_name("alternative")
            otherwise = others[0].child_by_field_name("body") if len(others) == 1 else None
            condition = node.child_by_field_name("condition")
            if then is None or otherwise is None or condition is None or others[0].type != "else_clause":
                continue
            consequence, other = (scope.text(x.start_byte, x.end_byte) for x in (then, otherwise))
            if consequence != other and then.start_point.column == otherwise.start_point.column:
                yield Alternative(
                    self.id,
                    then.start_byte,
                    otherwise.end_byte,
                    scope.swap(then, otherwise),
                    (condition.start_byte, condition.end_byte),
                    _QUESTION,
                )
