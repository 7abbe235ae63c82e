"""Values as JSON that shows the type and structure of each, for comparison outside the sandbox.

| value | form |
|---|---|
| a plain value | as `plain` encodes it |
| list, tuple, set, frozenset | `["l", …]`, `["t", …]`, `["s", …]`, `["z", …]` |
| dict | `["d", [key, value], …]` |
| an iterator, consumed | `["g", …]` |
| a coroutine or the like, awaited; a context manager, entered | `["w", result]`, `["n", value]` |
| a function, called | `["k", [arguments, ["v", result] or ["x", exception]], …]` |
| an object | `["o", class, content as a built-in or null, [[attribute, value], …]]` |
| a member of an enumeration | `["e", class, name]` |
| a view of bytes; a weak reference | `["o", "memoryview", bytes, []]`; `["o", "ReferenceType", object, []]` |
| a value of the standard library, the running thread's number | `["r", class, text]` |
| one of the enclosing values | `["^", steps outward]` |
| a value that cannot be compared, or is too large | `["?", class]`, `["…"]` |

The encoder inspects only types and memory: it calls no method of a class that a program defines, so an object
cannot misreport its equality.
"""

from __future__ import annotations

import _thread
import collections
import copy
import functools
import operator
import types
from itertools import islice

from .. import plain
from .steps import TooLong

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


ITEMS = 1000  # maximum items taken from an iterator, also an asynchronous one
_CALLABLE = (
    types.FunctionType,
    types.MethodType,
    functools.partial,
    type(functools.lru_cache(len)),
    operator.itemgetter,
    operator.attrgetter,
    operator.methodcaller,
)
_ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    (), (0,), (1,), (5,), (-3,), ("ab",), ([2, 1],), ({"a": 1},), (2, 3), ("ab", "b"), ([1, 2], 1), (3, 1, 2),
)  # fmt: skip
NODES = 20000  # maximum parts of one value
CHARACTERS = 100000  # maximum characters of one string
_DEPTH = 60
_CALLED = 2  # maximum levels of functions that give functions
_PLAIN = {list: "l", tuple: "t", set: "s", frozenset: "z"}
# Types whose `repr` contains everything to compare.
_TEXTUAL = {
    "datetime": ("datetime", "time", "timezone"),
    "builtins": ("slice", "type"),
    "re": ("Pattern", "Match"),
    "array": ("array",),
    "ipaddress": ("IPv4Address", "IPv6Address", "IPv4Network", "IPv6Network"),
    "zoneinfo": ("ZoneInfo",),
}
_ITERATORS = {
    "builtins": ("generator", "map", "filter", "zip", "enumerate", "reversed", "list_iterator",
                 "list_reverseiterator", "tuple_iterator", "set_iterator", "str_iterator", "dict_keyiterator",
                 "dict_valueiterator", "dict_itemiterator", "range_iterator", "callable_iterator",
                 "str_ascii_iterator", "bytes_iterator"),
    "itertools": None,
}  # fmt: skip
_VIEWS = ("dict_keys", "dict_values", "dict_items")
_BASES: dict[type, Any] = {
    dict: None, list: None, tuple: None, set: None, frozenset: None,
    int: int.__int__, float: float.__float__,
    str: lambda value: "".join(str.__iter__(value)),
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
}  # fmt: skip
_OPEN = {object, collections.deque, collections.OrderedDict, collections.defaultdict, *_BASES}
_MADE_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_SILENT = {"__weakref__", "__dict__"}
_MAKERS: dict[str, Any] = {"l": list, "t": tuple, "s": set, "z": frozenset, "g": iter}


def first(*values: Any) -> Any:
    """The function that a function is called with."""
    return values[0] if values else None


def is_callable(value: Any) -> bool:
    """Whether a value is a function that can be observed by calling it."""
    return isinstance(value, _CALLABLE)


def probes(own: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Arguments for a function that came back from a call with some plain arguments."""
    more = [own[:size] for size in range(1, len(own) + 1)]
    return copy.deepcopy([(first,), *_ARGUMENTS, *more])


def label(arguments: tuple[Any, ...]) -> str:
    """Some arguments as text, without addresses."""
    return "(a function)" if arguments == (first,) else repr(arguments)


def is_context(value: Any) -> bool:
    """Whether a value is a context manager that a generator makes."""
    kind = type(value)
    return kind.__module__ == "contextlib" and kind.__name__ == "_GeneratorContextManager"


def awaited(value: Any) -> Callable[[], Any] | None:
    """A function that awaits a value; None if it is nothing to wait for."""
    if isinstance(value, types.CoroutineType):
        return lambda: _run(value)
    if isinstance(value, types.AsyncGeneratorType):
        return lambda: _run(_collected(value))
    kind = type(value)
    if kind.__module__ == "contextlib" and kind.__name__ == "_AsyncGeneratorContextManager":
        return lambda: _run(_entered(value))
    return None


async def _collected(generator: Any) -> list[Any]:
    items = []
    async for item in generator:
        items.append(item)
        if len(items) >= ITEMS:
            break
    return items


async def _entered(context: Any) -> Any:
    async with context as value:
        return value


def _run(awaitable: Any) -> Any:
    """The result of an awaitable, on a loop whose clock jumps to the next moment that something waits for."""
    import asyncio
    import selectors

    class Selector(selectors.SelectSelector):
        now = 0.0

        def select(self, timeout: float | None = None) -> Any:
            if timeout is None or timeout <= 0:
                return super().select(timeout)
            ready = super().select(0)
            if not ready:
                self.now += timeout
            return ready

    selector = Selector()

    class Loop(asyncio.SelectorEventLoop):
        def time(self) -> float:
            return selector.now

    loop = Loop(selector)
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(awaitable)
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()


class _Full(Exception):  # noqa: N818 - a signal
    pass


class Encoder:
    """Encodes values one at a time, each with its own bound on size.

    Attributes:
        pull: Whether code of the value may run: iterators are consumed, other values used.
        own: Plain values with which functions in the value are called, too.
    """

    def __init__(self, *, pull: bool = True, own: tuple[Any, ...] = ()) -> None:
        self.pull, self.own = pull, own
        self._calling = 0
        self._left = NODES
        self._around: list[int] = []

    def encode(self, value: Any) -> Any:
        """The form of one value; see the module."""
        self._left, self._around = NODES, []
        try:
            return self._any(value)
        except _Full:
            return ["…"]

    def used(self, value: Any, steps: list[tuple[str, list[Any], dict[str, Any]]]) -> Any:
        """The form of an object by what its methods give, called in some order; like that of a function."""
        outcomes = []
        for method, positional, named in steps:
            try:
                given = getattr(value, method)(*positional, **named)
                outcomes.append([f".{method}", ["v", "itself" if given is value else self.encode(given)]])
            except TooLong:
                raise
            except BaseException as error:
                outcomes.append([f".{method}", ["x", type(error).__name__]])
        return ["k", *outcomes]

    def _any(self, value: Any) -> Any:
        self._left -= 1
        if self._left < 0 or len(self._around) > _DEPTH:
            raise _Full
        kind = type(value)
        if kind is int and value == _thread.get_ident():
            return ["r", "thread", "the running thread"]  # another number in each process
        if kind is str and len(value) > CHARACTERS:
            return ["…"]
        form = plain.encode(value[:CHARACTERS] if kind is bytes or kind is bytearray else value)
        if form is not plain.NOT_PLAIN:
            return form
        if id(value) in self._around:
            return ["^", len(self._around) - self._around.index(id(value))]
        self._around.append(id(value))
        try:
            return self._container(value, kind)
        finally:
            self._around.pop()

    def _container(self, value: Any, kind: type) -> Any:
        if kind in _PLAIN:
            return [_PLAIN[kind], *[self._any(item) for item in value]]
        if kind is dict:
            return ["d", *[[self._any(key), self._any(item)] for key, item in value.items()]]
        module, name = _text(kind, "__module__"), _text(kind, "__qualname__")
        if module == "builtins" and name in _VIEWS:
            return ["l" if name == "dict_values" else "s", *[self._any(item) for item in value]]
        if name in _TEXTUAL.get(module, ()):
            return ["r", name, repr(value)[:CHARACTERS]]
        if is_iterator(value):
            return ["g", *[self._any(item) for item in islice(value, ITEMS)]] if self.pull else ["?", name]
        if kind is memoryview or (module == "weakref" and name == "ReferenceType"):
            return ["o", name, self._any(bytes(value) if kind is memoryview else value()), []]
        if self.pull:
            used = self._used(value, name)
            if used is not None:
                return used
        return self._object(value, kind, module, name)

    def _used(self, value: Any, name: str) -> Any:
        """The form of a value that shows what it is in use; None for any other."""
        wait = awaited(value)
        if wait is not None:
            return ["w", self._any(wait())]
        if is_context(value):
            with value as entered:
                return ["n", self._any(entered)]
        if not is_callable(value) or self._calling >= _CALLED:
            return None
        self._calling += 1
        try:
            outcomes = [[label(row), self._outcome(value, row)] for row in probes(self.own)]
        finally:
            self._calling -= 1
        gives = any(outcome[0] == "v" for _, outcome in outcomes)
        return ["k", *outcomes] if gives else ["?", name]

    def _outcome(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        try:
            form = self._any(function(*arguments))
            return ["x", "?"] if type(form) is list and form[0] == "?" else ["v", form]
        except (TooLong, _Full):
            raise
        except BaseException as error:
            return ["x", type(error).__name__]

    def _object(self, value: Any, kind: type, module: str, name: str) -> Any:
        if isinstance(value, BaseException):
            return ["o", name, ["t", *[self._any(item) for item in value.args]], []]
        if module == "numpy" and name == "ndarray":
            return ["o", f"ndarray {value.dtype}", self._any(value.tolist()), []]
        if module == "numpy" and hasattr(value, "item"):
            return self._any(value.item())
        if any(_text(base, "__module__") == "enum" for base in kind.__mro__[1:]):
            return ["e", name, vars(value).get("_name_")]
        if not all(base.__flags__ & _MADE_IN_PYTHON for base in kind.__mro__ if base not in _OPEN):
            return ["?", name]
        content, fields = self._content(value, kind), self._fields(value, kind)
        if content is None and fields is None:
            return ["?", name]
        return ["o", name, content, sorted(fields or [], key=lambda field: str(field[0]))]

    def _content(self, value: Any, kind: type) -> Any:
        """The content of an object as the built-in type that its class derives from."""
        base: Any = next((base for base in _BASES if base in kind.__mro__), None)
        if base is None:
            deque = _text(kind, "__module__") == "collections" and _text(kind, "__name__") == "deque"
            return ["l", *[self._any(item) for item in value]] if deque else None
        if base is dict:
            return ["d", *[[self._any(key), self._any(item)] for key, item in dict.items(value)]]
        if base in _PLAIN:
            return [_PLAIN[base], *[self._any(item) for item in base.__iter__(value)]]
        return self._any(_BASES[base](value))

    def _fields(self, value: Any, kind: type) -> Any:
        """An object's attributes; None if it stores its state in a way that cannot be inspected."""
        fields, all_slotted = [], True
        for base in kind.__mro__[:-1]:
            slots = base.__dict__.get("__slots__")
            all_slotted = all_slotted and slots is not None
            for slot in [slots] if isinstance(slots, str) else slots or ():
                if slot not in _SILENT:
                    try:
                        fields.append([slot, self._any(object.__getattribute__(value, slot))])
                    except AttributeError:
                        continue
        try:
            held = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return fields if all_slotted else None
        fields.extend([str(key), self._any(item)] for key, item in dict.items(held))
        return fields


def is_iterator(value: Any) -> bool:
    """Whether a value is an iterator of Python itself, which can be consumed without running other code."""
    module, name = _text(type(value), "__module__"), _text(type(value), "__qualname__")
    return module in _ITERATORS and (_ITERATORS[module] is None or name in (_ITERATORS[module] or ()))


def _text(kind: Any, name: str) -> str:
    try:
        value = type.__getattribute__(kind, name)
    except AttributeError:
        return ""
    return value if type(value) is str else ""


def decode(form: Any, classes: dict[str, Any]) -> Any:
    """The value of a form.

    Args:
        form: The result of `Encoder.encode`.
        classes: Class name to class.

    Raises:
        ValueError: the form contains a value that cannot be rebuilt.
    """
    if not isinstance(form, list) or form[0] in plain.DECODERS:
        return plain.decode(form)
    head, rest = form[0], form[1:]
    if head in _MAKERS:
        return _MAKERS[head]([decode(item, classes) for item in rest])
    if head == "d":
        return {decode(key, classes): decode(item, classes) for key, item in rest}
    if head == "o" and str(rest[0]).startswith("ndarray "):
        import numpy as np

        return np.array(decode(rest[1], classes), dtype=rest[0].partition(" ")[2])
    if head == "o" and rest[0] == "memoryview":
        return memoryview(decode(rest[1], classes))
    if head == "e" and rest[0] in classes:
        return classes[rest[0]][rest[1]]
    if head == "o" and isinstance(classes.get(rest[0]), type):
        return _remade(classes[rest[0]], rest[1], rest[2], classes)
    if head == "o" and rest[1] is None:  # of a class of the tests: an object with the same attributes
        return _remade(type(rest[0].rpartition(".")[2], (), {}), None, rest[2], classes)
    raise ValueError(f"a value of type {rest[0] if rest else 'unknown'} cannot be passed between processes")


def _remade(kind: Any, content: Any, fields: Any, classes: dict[str, Any]) -> Any:
    value: Any
    if content is None:
        value = object.__new__(kind)
    else:
        plain = decode(content, classes)
        base: Any = type(plain)
        value = base.__new__(kind, plain) if base in (int, float, str, bytes, tuple, frozenset) else kind()
        if base in (list, set, dict):
            value.extend(plain) if base is list else value.update(plain)
    for name, item in fields:
        object.__setattr__(value, name, decode(item, classes))
    return value
