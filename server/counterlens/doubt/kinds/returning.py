"""A missing `return`."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of

_VALUES = frozenset(
    {"call", "await", "attribute", "subscript", "conditional_expression", "not_operator", "unary_operator"}
    | {"dictionary", "tuple", "set", "list_comprehension", "dictionary_comprehension", "set_comprehension"}
    | {"generator_expression", "parenthesized_expression", "comparison_operator", "lambda"}
)
_MOST = 4
"""Maximum number of variables that a missing last `return` may have returned."""


class MissingReturn(DoubtKind):
    """The last expression of a branch is returned, or a variable at the end of a function without a `return`.

    Without failing tests, only where the function ends, and if the file uses the value of a call of it.
    """

    id = "return"
    EXAMPLES = (
        DoubtExample(
            "def f(a):\n    a.lower()\nx = f('A')\n", ("a.lower() -> return a.lower()", " -> return a")
        ),
        DoubtExample(
            "def f(a):\n    if a:\n        a.strip()\n    else:\n        return 1\n",
            ("a.strip() -> return a.strip()",),
        ),
        DoubtExample("def f(a):\n    b = a + 1\n", (" -> return b",)),
        DoubtExample(
            "def f(a):\n    if a:\n        a.strip()\n    return a\n", ("a.strip() -> return a.strip()",)
        ),
        DoubtExample("def f(a):\n    a.sort()\n    return a\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        refuted = not self._is_used(scope)
        for node in scope.of("expression_statement"):
            value = next(iter(node.named_children), None)
            if value is not None and value.type in _VALUES and _ends_block(node):
                unlikely = refuted or not _is_last(node, scope.root)
                text = f"return {text_of(node)}"
                yield Alternative(self.id, node.start_byte, node.end_byte, text, refuted=unlikely)
        yield from self._of_variable(scope, refuted=refuted)

    def _is_used(self, scope: DoubtScope) -> bool:
        """Whether a call of the function in its file is more than a statement."""
        return any(
            node.type == "call"
            and node.parent is not None
            and node.parent.type != "expression_statement"
            and (text_of(node.child_by_field_name("function")) or "").rpartition(".")[2]
            == scope.function.name
            for node in scope.file.nodes
        )

    def _of_variable(self, scope: DoubtScope, *, refuted: bool) -> Iterator[Alternative]:
        body = scope.root.child_by_field_name("body")
        if body is None or any(node.named_children for node in scope.of("return_statement")):
            return
        statements = [child for child in body.named_children if child.type != "comment"]
        if not statements or scope.start >= scope.function.end or any(scope.of("yield")):
            return
        last = statements[-1]
        changed = {text_of(node) for node in scope.of("identifier")}
        names = [name for name in reversed(scope.variables) if name in changed and name not in scope.loops]
        text = "\n" + " " * statements[0].start_point.column + "return "
        own = [name for name in names if name not in scope.parameters] or names
        for name in own[:_MOST]:
            yield Alternative(
                self.id,
                last.end_byte,
                last.end_byte,
                text + name,
                (last.start_byte, last.end_byte),
                f"is `return {name}` missing after it?",
                refuted=refuted,
            )


def _is_last(node: tree_sitter.Node, function: tree_sitter.Node) -> bool:
    """Whether a function ends after a statement, without a loop around it."""
    while node.parent is not None and node != function:
        block, above = node.parent, node.parent.parent
        if node.type != "block" and block.type == "block" and block.named_children[-1] != node:
            return False
        if node.type in {"for_statement", "while_statement"} or (
            node.type == "function_definition" or above is None
        ):
            return False
        node = block
    return node == function


def _ends_block(node: tree_sitter.Node) -> bool:
    """Whether a statement is the last one of its block."""
    block = node.parent
    return block is not None and block.type == "block" and block.named_children[-1] == node
