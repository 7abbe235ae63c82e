"""Name resolution in languages with block scope.

Rules:

- A declaration is visible from its position to the end of its block; one in a nested block shadows it there.
- Several variables of one name in one function are distinguished by a mark.
- A name that the function does not declare refers outside of it: to a field, a global variable, a type.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tree_sitter import Node

from counterlens.dependence.effects import MARK
from counterlens.syntax.definitions import text_of


class Blocks:
    """The variables of one function, as its blocks are visited in source order."""

    def __init__(self) -> None:
        self._open: list[dict[str, str]] = [{}]
        self._declared: dict[
            int, str
        ] = {}  # by the byte offset of the declaration, because a block may be visited again
        self._count: dict[str, int] = {}

    @contextmanager
    def block(self) -> Iterator[None]:
        """Enter a block, and leave it at the end of the `with`."""
        self._open.append({})
        try:
            yield
        finally:
            self._open.pop()

    def declare(self, identifier: Node) -> str:
        """The variable that a declaration creates."""
        name = text_of(identifier)
        at = identifier.start_byte
        if at not in self._declared:
            count = self._count[name] = self._count.get(name, 0) + 1
            self._declared[at] = name if count == 1 else f"{name}{MARK}{count}"
        self._open[-1][name] = self._declared[at]
        return self._declared[at]

    def variable(self, name: str) -> str:
        """The variable to which a name refers here."""
        for block in reversed(self._open):
            if name in block:
                return block[name]
        return self.outside(name)

    def outside(self, name: str) -> str:
        """The variable of a name outside of the function, even if a declaration shadows it."""
        return f"{name}{MARK}outside"
