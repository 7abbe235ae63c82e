"""A missing `await`."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of


class MissingAwait(DoubtKind):
    """An `await` is added to a call in an `async def`, if the file awaits or async-defines the callee."""

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
        for node in scope.of("call"):
            called = node.child_by_field_name("function")
            above = node.parent
            while above is not None and above.type not in {"function_definition", "lambda"}:
                above = above.parent
            inside = above is not None and above.children[0].type == "async"
            handed_on = node.parent is not None and node.parent.type in {"await", "argument_list"}
            if inside and not handed_on and called is not None and text_of(called) in scope.file.awaited:
                yield self.instead(node, f"await {text_of(node)}")
