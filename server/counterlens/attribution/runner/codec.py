"""Values between two processes that do not trust each other: plain ones by content, all others as handles.

A plain value is one whose type is exactly a builtin one, or one of a few of the standard library, all the way
down. It arrives as a real value of that type, so whoever receives it compares real values. Nothing that
arrives is ever executed: no pickles, no classes of the other side.

Mutable containers in the arguments of a call are numbered, so that what the call did to them can be told, and
that an argument that comes back is the argument.
"""

from __future__ import annotations

import builtins
import collections
import datetime
import decimal
import fractions
import pathlib
import uuid

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_CONSTRUCTED: dict[str, tuple[Any, Callable[[Any], list[Any]]]] = {
    "decimal": (decimal.Decimal, lambda v: [str(v)]),
    "fraction": (fractions.Fraction, lambda v: [v.numerator, v.denominator]),
    "date": (datetime.date, lambda v: [v.year, v.month, v.day]),
    "timedelta": (datetime.timedelta, lambda v: [v.days, v.seconds, v.microseconds]),
    "uuid": (uuid.UUID, lambda v: [v.hex]),
    "path": (type(pathlib.Path()), lambda v: [str(v)]),
    "purepath": (pathlib.PurePosixPath, lambda v: [str(v)]),
    "range": (range, lambda v: [v.start, v.stop, v.step]),
    "slice": (slice, lambda v: [v.start, v.stop, v.step]),
    "complex": (complex, lambda v: [v.real, v.imag]),
}
_NAMES = {kind: name for name, (kind, _) in _CONSTRUCTED.items()}
_MOMENTS: dict[str, Any] = {"datetime": datetime.datetime, "time": datetime.time}
_LISTS: dict[Any, str] = {list: "list", set: "set", collections.deque: "deque"}
_MAPPINGS: dict[Any, str] = {dict: "dict", collections.OrderedDict: "ordered", collections.Counter: "counter"}
_KINDS = {name: kind for kinds in (_LISTS, _MAPPINGS) for kind, name in kinds.items()}
_SINGLE = {"...": Ellipsis, "not implemented": NotImplemented}
_SHORT = 1 << 53
_NONE: Any = object()
_BUILTIN_TYPES = {value: name for name, value in vars(builtins).items() if type(value) is type}


class Table:
    """The numbered containers of one call."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}

    def add(self, value: Any) -> int:
        """Number a container."""
        self.numbers[id(value)] = len(self.objects)
        self.objects.append(value)
        return len(self.objects) - 1


class Codec:
    """Encodes to what JSON can carry, and back.

    Args:
        give: Makes a node of a value that is not plain.
        take: Makes a value of such a node.
    """

    def __init__(self, give: Callable[[Any], list[Any]], take: Callable[[list[Any]], Any]) -> None:
        self._give, self._take = give, take

    def encode(self, value: Any, table: Table) -> Any:
        """The node of a value."""
        kind: Any = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is tuple or kind is frozenset:
            return [kind.__name__, [self.encode(item, table) for item in value]]
        if kind in _LISTS or kind in _MAPPINGS or kind is collections.defaultdict:
            known = table.numbers.get(id(value))
            if known is not None:
                return ["same", known]
            number = table.add(value)
            return [_LISTS.get(kind) or _MAPPINGS.get(kind, "dict"), number, self.content(value, table)]
        if kind in _NAMES:
            name = _NAMES[kind]
            return ["made", name, [self.encode(part, table) for part in _CONSTRUCTED[name][1](value)]]
        if isinstance(value, tuple) and hasattr(kind, "_fields") and kind.__bases__ == (tuple,):
            parts = [self.encode(item, table) for item in tuple.__iter__(value)]
            return ["named", kind.__name__, list(kind._fields), parts]
        node = _scalar(value, kind)
        return self._give(value) if node is _NONE else node

    def content(self, value: Any, table: Table) -> list[Any]:
        """The nodes of what is in a mutable container."""
        if isinstance(value, dict):
            return [[self.encode(k, table), self.encode(v, table)] for k, v in dict.items(value)]
        return [self.encode(item, table) for item in list(value)]

    def decode(self, node: Any, table: Table) -> Any:
        """The value of a node; a container that is known already is that one, as it is here.

        Raises:
            ValueError, TypeError, KeyError, IndexError: the node has no such form.
        """
        if node is None or type(node) in (bool, str, int):
            return node
        kind, *rest = node
        if kind in _KINDS:
            container = _KINDS[kind]()
            if rest[0] != table.add(container):
                raise ValueError("containers out of order")
            self.fill(container, rest[1], table)
            return container
        if kind == "same":
            return table.objects[rest[0]]
        if kind in ("tuple", "frozenset"):
            return vars(builtins)[kind]([self.decode(item, table) for item in rest[0]])
        if kind == "made":
            return _CONSTRUCTED[rest[0]][0](*[self.decode(part, table) for part in rest[1]])
        if kind == "named":
            make: Any = collections.namedtuple
            made = make(rest[0], rest[1])
            return made(*[self.decode(part, table) for part in rest[2]])
        simple = _SIMPLE.get(kind)
        return simple(rest) if simple else self._take(node)

    def fill(self, container: Any, content: list[Any], table: Table) -> None:
        """Give a container another content, in place."""
        if isinstance(container, dict):
            pairs = [(self.decode(key, table), self.decode(value, table)) for key, value in content]
            container.clear()
            for key, value in pairs:
                container[key] = value
            return
        items = [self.decode(item, table) for item in content]
        container.clear()
        (container.update if isinstance(container, set) else container.extend)(items)


def _scalar(value: Any, kind: Any) -> Any:
    """The node of a value that holds no others; `_NONE` where it is not plain."""
    if kind is int:
        return value if -_SHORT < value < _SHORT else ["int", hex(value)]
    if kind is float:
        return ["float", value.hex()]
    if kind in (bytes, bytearray):
        return [kind.__name__, bytes(value).hex()]
    if kind in (datetime.datetime, datetime.time) and value.tzinfo in (None, datetime.timezone.utc):  # noqa: UP017
        return ["moment", kind.__name__, value.isoformat()]
    if kind is type and value in _BUILTIN_TYPES:
        return ["type", _BUILTIN_TYPES[value]]
    return next((["single", name] for name, single in _SINGLE.items() if value is single), _NONE)


_SIMPLE: dict[str, Callable[[list[Any]], Any]] = {
    "int": lambda rest: int(rest[0], 16),
    "float": lambda rest: float.fromhex(rest[0]),
    "bytes": lambda rest: bytes.fromhex(rest[0]),
    "bytearray": lambda rest: bytearray.fromhex(rest[0]),
    "moment": lambda rest: _MOMENTS[rest[0]].fromisoformat(rest[1]),
    "single": lambda rest: _SINGLE[rest[0]],
    "type": lambda rest: _builtin_type(rest[0]),
}


def _builtin_type(name: str) -> type:
    found = vars(builtins)[name]
    if not isinstance(found, type):
        raise TypeError(f"{name} is no type")
    return found
