"""Proxies for the objects of a candidate that runs in another process.

Functions, classes and objects of the program are represented by proxies that forward every use; plain values
are real ones. No code of the program runs in this process, so it cannot reach the tests, the test framework
or the report. A proxy never equals a plain value, whatever the program says. The program's `__eq__` decides
if both operands are its own. Uses of its objects' operators are recorded
(`CandidateConnection.own_operators`).

Classes of the tests cannot derive from a proxy: that is recorded as `CandidateConnection.needs_sharing`.
"""

from __future__ import annotations

import builtins

from .operators import ANSWERS, COMMANDS, OPERATORS, QUESTIONS, TEXTS

globals()["__builtins__"] = dict(vars(builtins))
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .connection import CandidateConnection

_get = object.__getattribute__


class ProxyClass(type):
    """The type of proxies for the program's classes."""

    def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> Any:
        """A proxy class; subclasses by the tests are rejected."""
        remote = next(
            (base._remote for base in bases if isinstance(base, ProxyClass) and base is not ProxyObject), None
        )
        if "_number" not in space and remote is not None:
            raise remote.cannot(f"the tests derive the class {name} from one of the program's")
        return super().__new__(cls, name, bases, space)

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        """Create an object in the program's process."""
        return cls._remote.ask("call", cls, list(arguments), options)

    def __getattr__(cls, name: str) -> Any:
        if name in {"_remote", "_number"} or cls is ProxyObject:
            raise AttributeError(name)
        return _attribute(cls._remote, cls, name)

    def __iter__(cls) -> Any:
        return _iterate(cls._remote, cls, cls._number)


class ProxyObject(metaclass=ProxyClass):
    """A proxy for an object of the program."""

    __slots__ = ("_handle",)
    _remote: Any

    def __getattr__(self, name: str) -> Any:
        return _attribute(type(self)._remote, self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        type(self)._remote.ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        type(self)._remote.ask("delete", self, name)

    def __hash__(self) -> int:
        return hash(_get(self, "_handle"))


def _attribute(remote: CandidateConnection, thing: Any, name: str) -> Any:
    """An attribute of a proxy; methods named in `operators.ANSWERS` are recorded."""
    if name.startswith("__array"):  # NumPy would use it to read memory at an address
        raise AttributeError(name)
    value = remote.ask("get", thing, name)
    if (name in ANSWERS or name in QUESTIONS) and isinstance(value, ProxyObject):
        remote.asked.add(_get(value, "_handle"))
    if isinstance(thing, ProxyObject) and isinstance(value, ProxyObject):
        remote.methods.add(_get(value, "_handle"))
    return value


def _special(name: str) -> Any:
    weighty = name not in COMMANDS and name not in TEXTS

    def method(self: Any, *arguments: Any) -> Any:
        remote = type(self)._remote
        remote.own_operators = remote.own_operators or weighty
        answer = remote.ask("special", name, self, list(arguments))
        wanted = {
            "__bool__": bool,
            "__str__": str,
            "__repr__": str,
            "__contains__": bool,
            "__len__": int,
        }.get(name)
        return answer if wanted is None or type(answer) is wanted else wanted()

    return method


def _iterate(remote: CandidateConnection, thing: Any, number: int) -> Iterator[Any]:
    """Iterate over an object of the program: the first time counts as a plain list.

    A second iteration may give other items, which a list never does.
    """
    remote.own_operators = remote.own_operators or number in remote.iterated
    remote.iterated.add(number)
    iterator = remote.ask("special", "__iter__", thing, [])
    if not isinstance(iterator, ProxyObject):
        raise TypeError("iter() returned a non-iterator")

    def items() -> Iterator[Any]:
        given = False
        while True:
            try:
                item = remote.ask("special", "__next__", iterator, [])
            except StopIteration:
                if not given:
                    remote.note_end()
                return
            given = True
            yield item

    return items()


def _iter(self: Any) -> Iterator[Any]:
    return _iterate(type(self)._remote, self, _get(self, "_handle"))


def _next(self: Any) -> Any:
    remote = type(self)._remote
    try:
        return remote.ask("special", "__next__", self, [])
    except StopIteration:  # it may be meant to end a loop of the tests
        remote.own_operators = True
        raise


def _exit(self: Any, kind: Any, error: Any, _: Any) -> bool:
    remote = type(self)._remote
    swallowed = remote.ask("special", "__exit__", self, [kind, error, None]) is True and error is not None
    remote.own_operators = remote.own_operators or swallowed
    return swallowed


def _equal(self: Any, other: object) -> Any:
    if self is other:
        return True
    if not isinstance(other, ProxyObject):
        return NotImplemented
    remote = type(self)._remote
    remote.own_operators = True
    return remote.ask("equal", self, other) is True


def _hash(self: Any) -> int:
    return hash(_get(self, "_handle"))


def _call(self: Any, *arguments: Any, **options: Any) -> Any:
    remote = type(self)._remote
    answer = remote.ask("call", self, list(arguments), options)
    if _get(self, "_handle") in remote.asked and (
        type(answer) is bool or (arguments and type(answer) is int)
    ):
        remote.own_operators = True
    if arguments and _get(self, "_handle") in remote.methods:
        remote.received_arguments = True
    return answer


def _await(self: Any) -> Any:
    return type(self)._remote.ask("await", self)
    yield


_METHODS = {"__call__": _call, "__eq__": _equal, "__iter__": _iter, "__next__": _next, "__exit__": _exit}


def own_name(name: str) -> str:
    """The name of a class of the program, changed if a builtin has the same."""
    return f"{name} of the program" if name in vars(builtins) else name


def proxy_class(remote: CandidateConnection, number: int, node: list[Any], bases: list[Any]) -> Any:
    """The proxy for a class of the program that is not an exception.

    Args:
        remote: The connection to it.
        number: The number of the class in the program's process.
        node: Its module, its name, its special methods, and whether its objects can be awaited.
        bases: Its bases that are known in this process.
    """
    module, name, special, awaitable = str(node[0]), str(node[1]), node[2], node[3]
    space: dict[str, Any] = {key: _METHODS.get(key) or _special(key) for key in OPERATORS if key in special}
    if "__eq__" in space:
        space["__hash__"] = _hash
    name = own_name(name)
    space.update(_remote=remote, _number=number, __module__=module, __slots__=())
    if awaitable:
        space["__await__"] = _await
    own = tuple(base for base in bases if isinstance(base, ProxyClass)) or (ProxyObject,)
    try:
        return ProxyClass(name, own, space)
    except TypeError:  # an order of bases that is only valid for the real classes
        return ProxyClass(name, (ProxyObject,), space)
