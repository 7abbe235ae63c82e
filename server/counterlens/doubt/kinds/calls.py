"""Calls and parameters: the order of arguments and operands, a missing `await`, a mutable default."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import tree_sitter

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of

_ORDERED = frozenset({"-", "/", "//", "%", "**"})
_NAMED = frozenset({"keyword_argument", "list_splat", "dictionary_splat", "comment"})
_DISPLAYS = frozenset({"list", "dictionary", "set", "list_comprehension", "dictionary_comprehension"})
_CALLS = frozenset({"list", "dict", "set", "defaultdict", "OrderedDict", "Counter", "deque", "bytearray"})


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
            text = scope.swap(first, second)
            yield Alternative(self.id, first.start_byte, second.end_byte, text, refuted=refuted)


class MissingAwait(DoubtKind):
    """An `await` is added to a call in an `async def`.

    Without failing tests, only if the file awaits or async-defines the callee, and the call is no argument.
    """

    id = "await"
    EXAMPLES = (
        DoubtExample(
            "async def get():\n    return 1\n\nasync def f():\n    x = get()\n    return x\n",
            ("get() -> await get()",),
        ),
        DoubtExample("async def f(a):\n    return a.get().json\n", ("a.get() -> (await a.get())",)),
        DoubtExample("def get():\n    return 1\n\ndef f():\n    x = get()\n    return x\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        for node in scope.of("call"):
            called, parent = node.child_by_field_name("function"), node.parent
            above = parent
            while above is not None and above.type not in {"function_definition", "lambda"}:
                above = above.parent
            inside = above is not None and above.children[0].type == "async"
            if not inside or parent is None or parent.type == "await" or called is None:
                continue
            is_awaitable = parent.type != "argument_list" and text_of(called) in scope.file.awaited
            text = f"await {text_of(node)}"
            if parent.type in {"attribute", "subscript", "call"}:
                text = f"({text})"
            yield self.instead(node, text, refuted=not is_awaitable)


class MutableDefault(DoubtKind):
    """A default that is a list, dictionary or set, shared by all calls, is created in each call instead."""

    id = "default"
    EXAMPLES = (
        DoubtExample(
            "def f(a, b=[]):\n    b.append(a)\n    return b\n",
            ("[]): -> None): if b is None: b = []",),
        ),
        DoubtExample("def f(a, b=(), c=None):\n    return b, c\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        parameters, body = (scope.root.child_by_field_name(field) for field in ("parameters", "body"))
        if parameters is None or body is None or scope.start >= scope.function.end:
            return
        if scope.root.end_point.row == scope.root.start_point.row:
            return
        line = scope.document.data.rfind(b"\n", 0, scope.start) + 1
        indent = " " * (scope.start - line)
        for node in parameters.named_children:
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is None or value is None:
                continue
            called = value.child_by_field_name("function") if value.type == "call" else None
            if value.type in _DISPLAYS or text_of(called).rpartition(".")[2] in _CALLS:
                between = scope.text(value.end_byte, line)
                fresh = (
                    f"{indent}if {text_of(name)} is None:\n{indent}    {text_of(name)} = {text_of(value)}\n"
                )
                yield Alternative(
                    self.id,
                    value.start_byte,
                    line,
                    f"None{between}{fresh}",
                    (value.start_byte, value.end_byte),
                    "is it shared by all calls by mistake?",
                )
