"""A missing `await`."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of


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
        """See the class."""
        for node in scope.of("call"):
            called, parent = node.child_by_field_name("function"), node.parent
            above = parent
            while above is not None and above.type not in {"function_definition", "lambda"}:
                above = above.parent
            inside = above is not None and above.children[0].type == "async"
            if not inside or parent is None or parent.type == "await" or called is None:
                continue
            known = parent.type != "argument_list" and text_of(called) in scope.file.awaited
            text = f"await {text_of(node)}"
            if parent.type in {"attribute", "subscript", "call"}:
                text = f"({text})"
            yield Alternative(self.id, node.start_byte, node.end_byte, text, refuted=not known)
