"""The candidate's own process: holds the program, and carries out requests of the tests' process.

Everything that decides the tests' outcome is in the other process; the candidate can replace names only here.
"""

from __future__ import annotations

import asyncio
import os
import sys
import types

from ...imported_ahead import forget_hidden, own_modules
from ...job import Output, take_descriptor
from ...kept_code import KeptCode
from ..candidate import INVALID, Candidate, invalid
from ..tamper_check import NoTamperCheck
from .channel import Channel, Closed
from .codec import Codec
from .operators import OPERATORS, TEXTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Foreign:
    """A proxy for an object of the tests: it can be called and iterated, and has its public attributes."""

    def __init__(self, worker: CandidateProcess, number: int) -> None:
        self.__dict__.update(_worker=worker, _number=number)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._worker.back("call", self._number, list(arguments), options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._worker.back("get", self._number, [name], {})

    def __iter__(self) -> Any:
        return self._worker.back("iter", self._number, [], {})

    def __next__(self) -> Any:
        return self._worker.back("next", self._number, [], {})


class Raised(Exception):  # noqa: N818 - a parcel
    """An exception of the tests that passes through the program."""

    def __init__(self, number: int, text: str) -> None:
        super().__init__(text)
        self.number = number


class CandidateProcess:
    """Answers requests until the connection is closed."""

    def __init__(self, descriptor: int) -> None:
        self._channel = Channel(descriptor)
        self._codec = Codec(self._give, self._take)
        self._kept: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._described: set[int] = set()
        self._foreign: dict[int, Foreign] = {}
        self._module: types.ModuleType
        self._candidate: Candidate

    def serve(self) -> None:
        """Answer requests; never returns."""
        try:
            while True:
                self._answer(self._channel.receive())
        except Closed:
            os._exit(0)

    def back(self, what: str, number: int, arguments: list[Any], options: dict[str, Any]) -> Any:
        """Send a request to the tests' process while it waits for our answer."""
        codec = self._codec
        changed = codec.changes()
        parts = [codec.encode(part) for part in (arguments, options)]
        codec.table.settle()
        self._channel.send({"back": what, "of": number, "changed": changed, "parts": parts})
        while True:
            message = self._channel.receive()
            if "do" in message:
                self._answer(message)
                continue
            codec.apply_changes(message["changed"])
            value = codec.decode(message.get("value"))
            codec.table.settle()
            if "raised" in message:
                number, kind, text = message["raised"]
                made = vars(__import__("builtins")).get(kind)
                if isinstance(made, type) and issubclass(made, Exception) and number < 0:
                    raise made(text)
                raise Raised(number, text)
            return value

    def _answer(self, request: dict[str, Any]) -> None:
        out, err = Output(), Output()
        before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = out, err
        codec, table, error, value = self._codec, self._codec.table, None, None
        try:
            codec.apply_changes(request["changed"])
            parts = [codec.decode(part) for part in request["parts"]]
            table.settle()
            for number in request["forgotten"]:
                table.forget(number)
            value = getattr(self, "_do_" + request["do"])(*parts)
        except Closed:
            raise
        except BaseException as raised:
            error = raised
        finally:
            sys.stdout, sys.stderr = before
        following = table.next
        try:
            self._channel.send(self._reply(value, error) | {"printed": [out.getvalue(), err.getvalue()]})
        except Closed:
            raise
        except BaseException as trouble:
            table.undo(following)
            self._channel.send({"error": self._trouble(trouble)})
        table.settle()

    def _reply(self, value: Any, error: BaseException | None) -> dict[str, Any]:
        changed = self._codec.changes()
        if error is not None:
            return {"changed": changed, "error": self._trouble(error)}
        return {"changed": changed, "value": self._codec.encode(value)}

    def _do_compile(self, path: str, module: str, source: str) -> Any:
        """The report on an invalid program, and the flags of a valid one; nothing of it runs."""
        try:
            self._candidate = Candidate(path, module, source, NoTamperCheck())
        except INVALID as error:
            return invalid(error), 0
        return None, self._candidate.flags

    def _do_load(self, roots: list[str], folder: str | None, kept: str) -> Any:
        for root in reversed(roots):
            if root not in sys.path:
                sys.path.insert(0, root)
        forget_hidden(roots)
        if folder:
            os.chdir(folder)
        KeptCode(kept, folder or "").install(self._candidate.is_at)
        for name in own_modules():
            del sys.modules[name]
        self._module = self._candidate.load()
        names = getattr(self._module, "__all__", None)
        return [list(vars(self._module)), list(names) if names is not None else None]

    def _do_module(self) -> Any:
        return self._module

    def _do_get(self, thing: Any, name: str) -> Any:
        return getattr(thing, name)

    def _do_set(self, thing: Any, name: str, value: Any) -> None:
        setattr(thing, name, value)

    def _do_delete(self, thing: Any, name: str) -> None:
        delattr(thing, name)

    def _do_call(self, thing: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        return thing(*arguments, **options)

    def _do_special(self, name: str, thing: Any, arguments: list[Any]) -> Any:
        return getattr(type(thing), name)(thing, *arguments)

    def _do_equal(self, one: Any, other: Any) -> bool:
        return bool(one == other)

    def _do_await(self, thing: Any) -> Any:
        async def wait() -> Any:
            return await thing

        return asyncio.run(wait())

    def _trouble(self, error: BaseException) -> Any:
        if isinstance(error, Raised):
            return ["raised", error.number]
        kind, following = type(error), self._codec.table.next
        try:
            arguments = [self._codec.encode(part) for part in error.args]
            more = [[key, self._codec.encode(value)] for key, value in vars(error).items()]
            text = str(error)
        except BaseException:
            self._codec.table.undo(following)
            arguments, more, text = [], [], kind.__name__
        return ["error", self._class(kind), arguments, more, text]

    def _number(self, value: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._kept)
            self._kept.append(value)
        return number

    def _give(self, value: Any) -> list[Any]:
        if isinstance(value, Foreign):
            return ["yours", value._number]
        if isinstance(value, type):
            return ["class", self._class(value)]
        return ["mine", self._number(value), self._class(type(value))]

    def _class(self, kind: type) -> list[Any]:
        number = self._number(kind)
        if number in self._described:
            return [number]
        self._described.add(number)
        bases = [self._class(base) for base in kind.__bases__ if base is not object]
        special = [name for name in OPERATORS if _defines(kind, name)]
        return [number, kind.__module__, kind.__qualname__, bases, special, "__await__" in dir(kind)]

    def _take(self, node: list[Any]) -> Any:
        kind, number = node[:2]
        if kind == "mine":  # an object of the other side
            return self._foreign.setdefault(number, Foreign(self, number))
        if kind == "yours":
            return self._kept[number]
        if kind == "named type":
            found: Any = __import__(number, fromlist=["_"])
            for part in node[2].split("."):
                found = getattr(found, part)
            return found
        raise ValueError(f"no value is a {kind}")


def _defines(kind: type, name: str) -> bool:
    """Whether a class has a special method that not every object has."""
    if name in TEXTS or name == "__format__":
        return True
    return any(name in vars(base) for base in kind.__mro__ if base is not object)


def main() -> None:
    """Serve the candidate; never returns."""
    descriptor = take_descriptor("COUNTERLENS_PEER_FD")
    sys.modules["__main__"] = types.ModuleType("__main__")
    CandidateProcess(descriptor).serve()
