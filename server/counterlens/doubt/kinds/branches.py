"""Branches that are swapped."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of

_QUESTION = "are its two branches swapped?"


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
        """See the class."""
        for node in scope.of("conditional_expression"):
            parts = [part for part in node.named_children if part.type != "comment"]
            if len(parts) == 3 and text_of(parts[0]) != text_of(parts[2]):
                between = scope.text(parts[0].end_byte, parts[2].start_byte)
                text = f"{text_of(parts[2])}{between}{text_of(parts[0])}"
                yield self.instead(node, text)
        for node in scope.of("if_statement"):
            then, others = node.child_by_field_name("consequence"), node.children_by_field_name("alternative")
            otherwise = others[0].child_by_field_name("body") if len(others) == 1 else None
            condition = node.child_by_field_name("condition")
            if then is None or otherwise is None or condition is None or others[0].type != "else_clause":
                continue
            consequence, other = (scope.text(x.start_byte, x.end_byte) for x in (then, otherwise))
            if consequence != other and then.start_point.column == otherwise.start_point.column:
                between = scope.text(then.end_byte, otherwise.start_byte)
                yield Alternative(
                    self.id,
                    then.start_byte,
                    otherwise.end_byte,
                    f"{other}{between}{consequence}",
                    (condition.start_byte, condition.end_byte),
                    _QUESTION,
                )
