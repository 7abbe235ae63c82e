"""Mutable containers with a copy in each process: changes of one copy are repeated on the other.

So a list that the program returns twice is one list for the tests, and later changes by the tests reach the
program, as in one process. Both sides assign the same numbers. A container is tracked while the tests hold
it; beyond a limit, the oldest are dropped.
"""

from __future__ import annotations

import builtins
import sys
from operator import is_

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST = 500  # maximum tracked containers
_ITEMS = 20000  # maximum items of all of them together
_UNHELD = 3  # reference count, as taken below, of a container that nobody else holds


class ContainerTable:
    """The numbered containers of one side."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._seen: dict[int, tuple[Any, ...]] = {}
        self.next = 0

    def add(self, value: Any) -> int:
        """Number a container."""
        number = self.next
        self._numbers[id(value)] = number
        self._objects[number] = value
        self.next += 1
        return number

    def number(self, value: Any) -> int | None:
        """The number of a container, if it has one."""
        return self._numbers.get(id(value))

    def object(self, number: int) -> Any:
        """The container with a number.

        Raises:
            KeyError: there is no such container.
        """
        return self._objects[number]

    def holds(self, number: int) -> bool | None:
        """Whether a container has an item; None if it is no longer tracked."""
        return bool(self._objects[number]) if number in self._objects else None

    def settle(self) -> None:
        """Record that both sides have the same content now."""
        for number in self.altered():
            self._seen[number] = _parts(self._objects[number])

    def altered(self) -> list[int]:
        """New containers, and those whose items changed since both sides had the same content."""
        return [
            number
            for number, value in self._objects.items()
            if number not in self._seen or not _same(_parts(value), self._seen[number])
        ]

    def unheld(self) -> list[int]:
        """Containers that only this table holds, and the oldest if there are too many; they are dropped."""
        gone, left = [], sum(map(len, self._seen.values()))
        for number in list(self._objects):
            value = self._objects[number]
            size = len(self._seen.get(number, ()))
            if sys.getrefcount(value) <= _UNHELD or len(self._objects) > _MOST or left > _ITEMS:
                left -= size
                gone.append(number)
                del value
                self.forget(number)
        return gone

    def forget(self, number: int) -> None:
        """Stop tracking a container."""
        value = self._objects.pop(number, None)
        self._numbers.pop(id(value), None)
        self._seen.pop(number, None)

    def undo(self, following: int) -> None:
        """Release the numbers from `following` on: their containers were not sent."""
        for number in range(following, self.next):
            self.forget(number)
        self.next = following


def _parts(value: Any) -> tuple[Any, ...]:
    if isinstance(value, dict):
        return (*dict.keys(value), *dict.values(value))
    return tuple(value)


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether the items are identical objects; their operators are not used."""
    return len(one) == len(other) and all(map(is_, one, other))
