"""Proxies for the objects of a candidate that runs in another process.

Functions, classes and objects of the program are proxies here that pass every use on; plain values are real
ones. No code of the program runs here, so it cannot touch the tests, the test framework or the report. What a
proxy is equal to is never for the program to say where the other side is a plain value: it is not. Where
both are the program's own, its `__eq__` is asked, and that is noted (`CandidateConnection.own_equality`).

Classes of the tests cannot derive from a proxy, and some values cannot be passed on. That lies with the
tests, whatever the program does; it is noted as `CandidateConnection.needs_sharing`.
"""

from __future__ import annotations

import builtins
import importlib
import os
import sys
import types
import unittest

from .channel import Channel, Closed
from .codec import Codec, ContainerTable

globals()["__builtins__"] = dict(vars(builtins))
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UNSAFE = (
    types.FrameType,
    types.CodeType,
    types.ModuleType,
    types.TracebackType,
    unittest.TestCase,
    type,
    types.BuiltinFunctionType,
)
_NO_PLACE = ("unittest", "doctest", "bdb", "pytest", "pluggy")
_get = object.__getattribute__


class NeedsSharing(Exception):  # noqa: N818 - not the program's error
    """The tests do what they can only do in the program's own process."""


class ProxyClass(type):
    """The type of proxies for the program's classes."""

    def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> Any:
        """A proxy; the tests' own subclasses are refused."""
        remote = next(
            (base._remote for base in bases if isinstance(base, ProxyClass) and base is not ProxyObject), None
        )
        if "_number" not in space and remote is not None:
            raise remote.cannot(f"the tests derive the class {name} from one of the program's")
        return super().__new__(cls, name, bases, space)

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        """Make an object, over there."""
        return cls._remote.ask("call", cls, list(arguments), options)

    def __getattr__(cls, name: str) -> Any:
        if name in {"_remote", "_number"} or cls is ProxyObject:
            raise AttributeError(name)
        return cls._remote.ask("get", cls, name)

    def __iter__(cls) -> Any:
        return cls._remote.ask("special", "__iter__", cls, [])


class ProxyObject(metaclass=ProxyClass):
    """A proxy for an object of the program."""

    __slots__ = ("_handle",)
    _remote: Any

    def __getattr__(self, name: str) -> Any:
        return type(self)._remote.ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        type(self)._remote.ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        type(self)._remote.ask("delete", self, name)

    def __hash__(self) -> int:
        return hash(_get(self, "_handle"))


def _special(name: str) -> Any:
    def method(self: Any, *arguments: Any) -> Any:
        answer = type(self)._remote.ask("special", name, self, list(arguments))
        wanted = {
            "__bool__": bool,
            "__str__": str,
            "__repr__": str,
            "__contains__": bool,
            "__len__": int,
        }.get(name)
        if name in ("__lt__", "__le__", "__gt__", "__ge__"):
            type(self)._remote.own_equality = True
        return answer if wanted is None or type(answer) is wanted else wanted()

    return method


def _equal(self: Any, other: object) -> Any:
    if self is other:
        return True
    if not isinstance(other, ProxyObject):
        return NotImplemented
    remote = type(self)._remote
    remote.own_equality = True
    return remote.ask("equal", self, other) is True


def _hash(self: Any) -> int:
    return hash(_get(self, "_handle"))


def _call(self: Any, *arguments: Any, **options: Any) -> Any:
    return type(self)._remote.ask("call", self, list(arguments), options)


def _await(self: Any) -> Any:
    return type(self)._remote.ask("await", self)
    yield


class CandidateConnection:
    """Connection to the candidate's process.

    Attributes:
        gone: Why there is no more answer to expect, if so.
        own_equality: Whether the program has been asked about an equality or an order of its own objects.
        needs_sharing: What the tests do that cannot be done from here, if anything.
    """

    def __init__(self, descriptor: int) -> None:
        self._channel = Channel(descriptor)
        self._codec = Codec(self._give, self._take)
        self.gone: str | None = None
        self.own_equality = False
        self.needs_sharing: str | None = None
        self._kinds: dict[int, Any] = {}
        self._things: dict[int, Any] = {}
        self._own: list[Any] = []
        self._numbers: dict[int, int] = {}

    def cannot(self, why: str) -> NeedsSharing:
        """Note, and say, that the tests need the program in their own process."""
        self.needs_sharing = self.needs_sharing or why
        return NeedsSharing(why)

    def ask(self, what: str, *parts: Any) -> Any:
        """Have something done over there."""
        if self.gone is not None:
            raise Closed(self.gone)
        try:
            return self._ask(what, parts)
        except Closed as error:
            self.gone = str(error)
            raise

    def _ask(self, what: str, parts: tuple[Any, ...]) -> Any:
        table = ContainerTable()
        try:
            self._channel.send({"do": what, "parts": [self._codec.encode(part, table) for part in parts]})
        except (ValueError, RecursionError) as problem:
            raise self.cannot(f"the tests pass on what is too large or too deep: {problem}") from None
        while True:
            reply = self._channel.receive()
            if "back" not in reply:
                break
            self._serve(reply)
        try:
            for stream, text in zip((sys.stdout, sys.stderr), reply.get("printed", ())):  # noqa: B905
                if text:
                    stream.write(str(text))
            error = self._error(reply["error"], table) if "error" in reply else None
            value = self._codec.decode(reply.get("value"), table)
            for number, content in reply.get("changed", ()):
                self._codec.fill(table.objects[number], content, table)
        except NeedsSharing:
            raise
        except Exception as problem:
            raise Closed("the program sends what is no message") from problem
        if error is not None:
            raise error
        return value

    def _serve(self, request: dict[str, Any]) -> None:
        """The program uses something of the tests."""
        table = ContainerTable()
        try:
            thing = self._own[request["of"]]
            arguments, options = (self._codec.decode(part, table) for part in request["parts"])
        except Exception as problem:
            raise Closed("the program sends what is no message") from problem
        try:
            value = self._use(request["back"], thing, arguments, options)
            reply = {"value": self._codec.encode(value, table)}
        except (Closed, NeedsSharing):
            raise
        except Exception as error:
            kind = type(error).__name__
            plain = vars(builtins).get(kind) is type(error)
            reply = {"raised": [-1 if plain else self._keep(error), kind, str(error)]}
        self._channel.send(reply)

    def _use(self, how: str, thing: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        if how == "call":
            return thing(*arguments, **options)
        if how == "iter":
            return iter(thing)
        if how == "next":
            return next(thing)
        if how == "get" and not str(arguments[0]).startswith("_") and not _has_frames(thing):
            return getattr(thing, str(arguments[0]))
        raise AttributeError("this attribute of the tests is closed to the program")

    def _keep(self, value: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._own)
            self._own.append(value)
        return number

    def _give(self, value: Any) -> list[Any]:
        if isinstance(value, ProxyClass):
            return ["yours", value._number]
        if isinstance(value, ProxyObject):
            return ["yours", _get(value, "_handle")]
        number = getattr(value, "_candidate_class", None) if isinstance(value, type) else None
        if isinstance(number, int):
            return ["yours", number]
        if isinstance(value, (type, types.BuiltinFunctionType)) and _is_standard(value):
            return ["named type", value.__module__, value.__qualname__]
        if isinstance(value, _UNSAFE):
            raise self.cannot(f"the tests pass on a {type(value).__name__}")
        return ["mine", self._keep(value)]

    def _take(self, node: list[Any]) -> Any:
        kind, number = node[:2]
        if kind == "yours":
            return self._own[number]
        if kind == "class":
            return self._kind(number)
        if kind == "mine":
            made = self._things.get(number)
            if made is None:
                made = object.__new__(self._kind(node[2]))
                object.__setattr__(made, "_handle", int(number))
                self._things[number] = made
            return made
        raise ValueError(f"no value is a {kind}")

    def _kind(self, node: list[Any]) -> Any:
        """The proxy for a class; a real exception class where it is one of those."""
        number = int(node[0])
        if number in self._kinds:
            return self._kinds[number]
        _, module, name, bases, special, awaitable = node
        known = _exception(str(module), str(name))
        mapped = [self._kind(base) for base in bases]
        failures = [base for base in mapped if isinstance(base, type) and issubclass(base, BaseException)]
        made: Any
        if known is not None:
            made = known
        elif failures:
            made = type(str(name), tuple(failures), {"__module__": str(module), "_candidate_class": number})
        else:
            space = {key: _special(key) for key in special if key.startswith("__")}
            if "__eq__" in space:
                space.update(__eq__=_equal, __hash__=_hash)
            space.update(_remote=self, _number=number, __module__=str(module), __slots__=())
            if "__call__" in special:
                space["__call__"] = _call
            if awaitable:
                space["__await__"] = _await
            own = tuple(base for base in mapped if isinstance(base, ProxyClass)) or (ProxyObject,)
            try:
                made = ProxyClass(str(name), own, space)
            except TypeError:  # an order of bases that only the real ones allow
                made = ProxyClass(str(name), (ProxyObject,), space)
        self._kinds[number] = made
        return made

    def _error(self, node: list[Any], table: ContainerTable) -> BaseException:
        if node[0] == "raised":
            kept = self._own[node[1]]
            if isinstance(kept, Exception) and not isinstance(kept, unittest.SkipTest):
                return kept
            return RuntimeError("the tests raised something else")
        _, kind, arguments, more, text = node
        found = self._kind(kind)
        values = [self._codec.decode(part, table) for part in arguments]
        if not (isinstance(found, type) and issubclass(found, BaseException)):
            return RuntimeError(str(text))
        kind_of: Any = found
        error: BaseException = kind_of.__new__(kind_of)
        if vars(builtins).get(found.__name__) is found:
            try:
                error = kind_of(*values)
            except TypeError:  # such as one for Unicode, with too few arguments
                error = RuntimeError(str(text))
        error.args = tuple(values)
        for key, value in more:
            decoded = self._codec.decode(value, table)
            try:
                setattr(error, str(key), decoded)
            except (AttributeError, TypeError):  # not one that can be set
                continue
        if "_candidate_class" in vars(found) and str(error) != text:
            message = str(text)
            setattr(found, "__str__", lambda this: message if this is error else "")  # noqa: B010
        return error


def _has_frames(thing: Any) -> bool:
    """Whether public attributes of a thing lead to where all names can be reached."""
    return (
        isinstance(thing, _UNSAFE)
        or hasattr(type(thing), "gi_frame")
        or any(
            hasattr(type(thing), name)
            for name in ("cr_frame", "ag_frame", "tb_frame", "f_back", "__globals__")
        )
    )


def _is_standard(value: Any) -> bool:
    module = value.__module__ or ""
    found = sys.modules.get(module)
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    origin = os.path.dirname(os.__file__)  # noqa: PTH120
    file = getattr(sys.modules.get(module), "__file__", None) or origin
    return found is value and file.startswith(origin) and "site-packages" not in file


def _exception(module: str, name: str) -> Any:
    """A class of exceptions of the standard library, by its name."""
    if module.partition(".")[0] in _NO_PLACE or module.startswith("_"):
        return None
    if module != "builtins" and module not in getattr(sys, "stdlib_module_names", ()):
        return None
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found if isinstance(found, type) and issubclass(found, BaseException) else None
