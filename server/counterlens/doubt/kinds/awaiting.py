"""A missing `await`."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope, text_of


class MissingAwait(DoubtKind):
    """A call in an `async def` of what the file defines with `async def`, or awaits elsewhere, is awaited."""

    id = "await"
    EXAMPLES = (
        DoubtExample(
            "async def get():\n    return 1\n\nasync def f():\n    x = get()\n    return x\n",
            ("get() -> await get()",),
        ),
        DoubtExample("def get():\n    return 1\n\nasync def f():\n    x = get()\n    return x\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        awaited = {name for node in scope.everywhere for name in _awaited(node)}
        for node in scope.of("call"):
            called = node.child_by_field_name("function")
            above = node.parent
            while above is not None and above.type not in {"function_definition", "lambda"}:
                above = above.parent
            inside = above is not None and above.children[0].type == "async"
            handed_on = node.parent is not None and node.parent.type in {"await", "argument_list"}
            if inside and not handed_on and called is not None and text_of(called) in awaited:
                yield self.instead(node, f"await {text_of(node)}")


def _awaited(node: tree_sitter.Node) -> Iterator[str]:
    if node.type == "function_definition" and node.children[0].type == "async":
        name = node.child_by_field_name("name")
        if name is not None:
            yield text_of(name)
            yield f"self.{text_of(name)}"
    elif node.type == "await" and node.named_children and node.named_children[0].type == "call":
        called = node.named_children[0].child_by_field_name("function")
        if called is not None:
            yield text_of(called)
