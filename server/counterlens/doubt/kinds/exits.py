"""`return`, `break` and `continue`: missing, in the wrong block, or confused with each other."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope, around
from counterlens.syntax.definitions import text_of

_LOOPS = ("for_statement", "while_statement")
_BLOCKS = (*_LOOPS, "if_statement")
_VALUES = frozenset({"identifier", "comparison_operator", "binary_operator", "boolean_operator", "list"})
_RETURNED = frozenset(
    {"call", "await", "attribute", "subscript", "conditional_expression", "not_operator", "unary_operator"}
    | {"dictionary", "tuple", "set", "list_comprehension", "dictionary_comprehension", "set_comprehension"}
    | {"generator_expression", "parenthesized_expression", "comparison_operator", "lambda"}
)
_MOST = 4
"""Maximum number of variables that a missing last `return` may have returned."""


class Exits(DoubtKind):
    """A `return` moves out of its block or into the one before, or a `return` or `break` is added."""

    id = "exits"
    EXAMPLES = (
        DoubtExample(
            "def f(a):\n    for x in a:\n        g(x)\n        return a\n",
            ("return a -> return a",),
        ),
        DoubtExample(
            "def f(a):\n    for x in a:\n        g(x)\n    return a\n",
            ("return a -> return a",),
        ),
        DoubtExample("def f(a, b):\n    a + b\n", ("a + b -> return a + b",)),
        DoubtExample(
            "def f(a):\n    for x in a:\n        if x:\n            y = x\n    print(y)\n", (" -> break",)
        ),
        DoubtExample(
            "def f(a):\n    for x in a:\n        if x:\n            break\n    print(x)\n",
            ("break -> continue",),
        ),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        for node in scope.of("return_statement"):
            yield from self._further_out(scope, node)
            yield from self._further_in(scope, node)
        for node in scope.of("break_statement", "continue_statement"):
            yield self.instead(node, "continue" if node.type == "break_statement" else "break")
        for node in scope.of("expression_statement"):
            inner = next(iter(node.named_children), None)
            if inner is not None and inner.type in _VALUES:
                yield self.instead(node, f"return {text_of(node)}")
        for node in scope.of("if_statement"):
            yield from self._missing_break(node)

    def _further_out(self, scope: DoubtScope, node: tree_sitter.Node) -> Iterator[Alternative]:
        """The last statement of a block, after others, moved behind the block."""
        block = node.parent
        outer = block.parent if block is not None else None
        if block is None or outer is None or outer.type not in _BLOCKS or len(block.named_children) < 2:
            return
        if block.named_children[-1] != node or outer.next_named_sibling is not None:
            return
        if outer.type == "if_statement" and outer.child_by_field_name("alternative") is not None:
            return
        yield self._moved(scope, node, outer.start_point.column, "did you mean it one block further out?")

    def _further_in(self, scope: DoubtScope, node: tree_sitter.Node) -> Iterator[Alternative]:
        """The statement after a loop or an `if`, moved to the end of its block."""
        before = node.prev_named_sibling
        body = before.children[-1] if before is not None and before.type in _BLOCKS else None
        if body is not None and body.type == "block" and node.next_named_sibling is None:
            last = body.named_children[-1].type
            if last not in {"return_statement", "break_statement", "continue_statement", "raise_statement"}:
                column = body.start_point.column
                yield self._moved(scope, node, column, "did you mean it inside the block above?")

    def _moved(self, scope: DoubtScope, node: tree_sitter.Node, column: int, question: str) -> Alternative:
        line = node.start_byte - node.start_point.column
        text = " " * column + scope.text(node.start_byte, node.end_byte)
        return Alternative(self.id, line, node.end_byte, text, (node.start_byte, node.end_byte), question)

    def _missing_break(self, node: tree_sitter.Node) -> Iterator[Alternative]:
        """`break` after an assignment that ends the `if` of a loop."""
        then, loop = node.child_by_field_name("consequence"), around(node, *_LOOPS)
        last = then.named_children[-1] if then is not None and then.named_children else None
        if loop is None or last is None or node.child_by_field_name("alternative") is not None:
            return
        inner = last.named_children[0] if last.named_children else None
        if last.type == "expression_statement" and inner is not None and inner.type == "assignment":
            text = "\n" + " " * last.start_point.column + "break"
            yield Alternative(
                self.id,
                last.end_byte,
                last.end_byte,
                text,
                (last.start_byte, last.end_byte),
                "is a `break` missing after it?",
            )


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
        refuted = not self._is_used(scope)
        for node in scope.of("expression_statement"):
            value = next(iter(node.named_children), None)
            if value is not None and value.type in _RETURNED and _ends_block(node):
                unlikely = refuted or not _is_last(node, scope.root)
                text = f"return {text_of(node)}"
                yield self.instead(node, text, refuted=unlikely)
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
