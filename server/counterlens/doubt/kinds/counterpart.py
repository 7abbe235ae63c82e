"""A function or method instead of its counterpart."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.definitions import text_of

_GROUPS = (
    ("any", "all"),
    ("min", "max"),
    ("sum", "len"),
    ("floor", "ceil"),
    ("append", "extend"),
    ("add", "update"),
    ("remove", "discard"),
    ("keys", "values", "items"),
    ("lower", "upper", "title", "capitalize", "casefold"),
    ("strip", "lstrip", "rstrip"),
    ("ljust", "rjust"),
    ("removeprefix", "removesuffix"),
    ("find", "rfind", "index", "rindex"),
    ("split", "rsplit", "splitlines"),
    ("partition", "rpartition"),
    ("startswith", "endswith"),
    ("union", "intersection", "difference", "symmetric_difference"),
    ("popleft", "pop"),
    ("match", "search", "fullmatch"),
    ("encode", "decode"),
    ("isdigit", "isalpha", "isalnum", "isnumeric", "isdecimal"),
    ("sorted", "reversed"),
)


class WrongCounterpart(DoubtKind):
    """A called function or method is replaced by its counterpart: `any` by `all`, `lstrip` by `rstrip`."""

    id = "counterpart"
    EXAMPLES = (
        DoubtExample("def f(a):\n    return any(a), a.append(1)\n", ("any -> all", "append -> extend")),
        DoubtExample("def f(a):\n    return a.any, g(a)\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        """See the class."""
        for node in scope.of("call"):
            called = node.child_by_field_name("function")
            name = (
                called.child_by_field_name("attribute") if called and called.type == "attribute" else called
            )
            if name is not None and name.type == "identifier":
                for group in _GROUPS:
                    if text_of(name) in group:
                        yield from (self.instead(name, other) for other in group if other != text_of(name))
