"""Mutable containers with a copy in each process: changes of one copy are repeated on the other.

So a list that the program returns twice is one list for the tests, and later changes by the tests reach the
program, as in one process. Numbers are counted alike on both sides. A container is tracked as long as the
tests hold it; beyond a limit the oldest are dropped.
"""

from __future__ import annotations

import builtins
import sys
from operator import is_

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST = 500  # containers that are followed
_ITEMS = 20000  # in all of them together
_UNHELD = 3  # references to a container that nobody else has, as they are counted below


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
        """The container of a number.

        Raises:
            KeyError: there is none.
        """
        return self._objects[number]

    def holds(self, number: int) -> bool | None:
        """Whether a container has an item; None if it is followed no longer."""
        return bool(self._objects[number]) if number in self._objects else None

    def settle(self) -> None:
        """Both sides have the same now."""
        for number in self.altered():
            self._seen[number] = _parts(self._objects[number])

    def altered(self) -> list[int]:
        """Those whose items are others than when both sides had the same, and new ones."""
        return [
            number
            for number, value in self._objects.items()
            if number not in self._seen or not _same(_parts(value), self._seen[number])
        ]

    def unheld(self) -> list[int]:
        """Those that nobody holds but this table, and the oldest where they are too many; forgotten here."""
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
        """Follow a container no longer."""
        value = self._objects.pop(number, None)
        self._numbers.pop(id(value), None)
        self._seen.pop(number, None)

    def undo(self, following: int) -> None:
        """Take back the numbers from one on: what has them was not sent."""
        for number in range(following, self.next):
            self.forget(number)
        self.next = following


def _parts(value: Any) -> tuple[Any, ...]:
    if isinstance(value, dict):
        return (*dict.keys(value), *dict.values(value))
    return tuple(value)


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether the items are the very same: no operator of theirs is used."""
    return len(one) == len(other) and all(map(is_, one, other))
