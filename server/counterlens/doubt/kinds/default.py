"""A mutable default."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of

_DISPLAYS = frozenset({"list", "dictionary", "set", "list_comprehension", "dictionary_comprehension"})
_CALLS = frozenset({"list", "dict", "set", "defaultdict", "OrderedDict", "Counter", "deque", "bytearray"})


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
        """See the class."""
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
