"""Values between two processes that do not trust each other: plain ones by content, all others as handles.

A value that `plain` encodes arrives as a real value of that type, as do containers and named tuples of such
values; so the receiver compares real values. Received data is never executed.

Mutable containers are numbered, and tracked on both sides; see `containers`.
"""

from __future__ import annotations

import builtins
import collections

from ... import plain
from .containers import ContainerTable
from .operators import ANSWERS

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

plain.prepare()  # before a module of the user can shadow the standard ones
_LISTS: dict[Any, str] = {list: "list", set: "set", collections.deque: "deque"}
_MAPPINGS: dict[Any, str] = {dict: "dict", collections.OrderedDict: "ordered", collections.Counter: "counter"}
_KINDS = {name: kind for kinds in (_LISTS, _MAPPINGS) for kind, name in kinds.items()}


class Codec:
    """Encodes values as JSON data, and decodes them.

    Args:
        give: Encodes a value that is not plain as a node.
        take: Decodes such a node.
        notice: Called with decoded plain values, except strings and small numbers.

    Attributes:
        table: The containers that both sides have.
    """

    def __init__(
        self,
        give: Callable[[Any], list[Any]],
        take: Callable[[list[Any]], Any],
        notice: Callable[[Any], None] = lambda _: None,
    ) -> None:
        self._give, self._take, self._notice = give, take, notice
        self.table = ContainerTable()

    def changes(self) -> list[Any]:
        """Changes of containers since the last message: the first part of the next one."""
        return [[number, self.content(self.table.object(number))] for number in self.table.altered()]

    def apply_changes(self, changes: list[Any]) -> None:
        """Apply changes to the containers of this side.

        Raises:
            ValueError, TypeError, KeyError, IndexError: the changes are invalid.
        """
        for number, content in changes:
            self.fill(self.table.object(number), content)

    def encode(self, value: Any) -> Any:
        """The node of a value."""
        form = plain.encode(value)
        if form is not plain.NOT_PLAIN:
            return form
        kind: Any = type(value)
        if kind is tuple or kind is frozenset:
            return [kind.__name__, [self.encode(item) for item in value]]
        if kind in _LISTS or kind in _MAPPINGS or kind is collections.defaultdict:
            known = self.table.number(value)
            if known is not None:
                return ["same", known]
            number = self.table.add(value)
            return [_LISTS.get(kind) or _MAPPINGS.get(kind, "dict"), number, self.content(value)]
        if isinstance(value, tuple) and hasattr(kind, "_fields") and kind.__bases__ == (tuple,):
            parts = [self.encode(item) for item in tuple.__iter__(value)]
            return ["named", kind.__name__, list(kind._fields), parts]
        return self._give(value)

    def content(self, value: Any) -> list[Any]:
        """The nodes of the items of a mutable container."""
        if isinstance(value, dict):
            return [[self.encode(k), self.encode(v)] for k, v in dict.items(value)]
        return [self.encode(item) for item in list(value)]

    def decode(self, node: Any) -> Any:
        """The value of a node; a known container is returned as the existing object of this side.

        Raises:
            ValueError, TypeError, KeyError, IndexError: the node is invalid.
        """
        if node is None or type(node) in (bool, str, int):
            return node
        kind, *rest = node
        if kind in _KINDS:
            container = _KINDS[kind]()
            if rest[0] != self.table.add(container):
                raise ValueError("containers out of order")
            self.fill(container, rest[1])
            return container
        if kind == "same":
            return self.table.object(rest[0])
        if kind in ("tuple", "frozenset"):
            return vars(builtins)[kind]([self.decode(item) for item in rest[0]])
        if kind == "named":
            return self._named(*rest)
        decoder = plain.DECODERS.get(kind)
        if decoder is None:
            return self._take(node)
        value = decoder(*rest)
        self._notice(value)
        return value

    def _named(self, name: str, fields: list[str], nodes: list[Any]) -> Any:
        """A named tuple; rejected if it imitates a builtin type, or has methods that tests use for checks."""
        parts = [self.decode(part) for part in nodes]
        if any(type(field) is not str for field in (name, *fields)) or type(fields) is not list:
            raise ValueError("invalid names")
        if any(field in ANSWERS and callable(part) for field, part in zip(fields, parts)):  # noqa: B905
            raise ValueError("a tuple with its own methods")
        make: Any = collections.namedtuple
        return make(f"{name}_of_the_program" if name in vars(builtins) else name, fields)(*parts)

    def fill(self, container: Any, content: list[Any]) -> None:
        """Replace the content of a container in place."""
        if isinstance(container, dict):
            pairs = [(self.decode(key), self.decode(value)) for key, value in content]
            container.clear()
            for key, value in pairs:
                container[key] = value
            return
        items = [self.decode(item) for item in content]
        container.clear()
        (container.update if isinstance(container, set) else container.extend)(items)
