"""The tests' end of the connection to a candidate in another process.

Data from the other process is never trusted. Plain values are decoded by exact type; a class has no special
methods except those of `operators.OPERATORS`; an exception that would end a loop of the tests becomes an
error. Some values of the tests cannot be passed between processes; that is recorded as
`CandidateConnection.needs_sharing`.
"""

from __future__ import annotations

import asyncio
import builtins
import collections
import os
import sys
import types
import unittest

from ... import plain
from ..cases import PASSED, SKIPPED
from .assertions import Reached
from .channel import Channel, Closed
from .checks import Checks
from .codec import Codec
from .effects import files_in, is_emptied, is_special, state_of
from .flows import Flows, is_hollow, tests_frame
from .lent import FRAMEWORKS, UNSAFE, use
from .proxies import ProxyClass, ProxyObject, own_name, proxy_class
from .watched import watch

globals()["__builtins__"] = dict(vars(builtins))
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .known_reliance import KnownReliance

_SILENT = {"load", "module", "set", "delete", "equal"}  # requests without a returned value
_ENDINGS = (StopIteration, StopAsyncIteration, GeneratorExit, asyncio.CancelledError)
_WIDE = {object, BaseException, Exception, AssertionError}  # classes that match any object or exception
_LAST = 200  # maximum values that are remembered
_get = object.__getattribute__


class NeedsSharing(Exception):  # noqa: N818 - not the program's error
    """An operation of the tests only works in the program's process."""


class EndedByProgram(Exception):  # noqa: N818 - named after the event
    """The program raised `StopIteration` or the like, which would have ended a loop of the tests."""

    __module__ = "builtins"  # so that a message shows only the name


class CandidateConnection:
    """Connection to the candidate's process.

    Args:
        descriptor: The socket.
        texts: Tests without a file, by the file name that they are compiled with.
        files: The files of the other tests.
        known: What an earlier run found in these texts and files; see `facts`.

    Attributes:
        invalid: The report on the program if it does not compile.
        flags: The flags of its code.
        gone: Why no further answer will come, if so.
        own_operators: Whether operators of the program's own objects, or its names in the tests' comparisons,
            influenced the result.
        iterated: The objects of the program that have been iterated over.
        asked: Methods of the program's objects with a name in `operators.ANSWERS`.
        methods: All methods of its objects.
        received_arguments: Whether one of these has been called with an argument.
        missing: Names that the tests looked up in its module in vain; "" is the module itself.
        doubts: Why "passed" is weak evidence, by the keys of `test_run._DOUBTS`.
        needs_sharing: An operation of the tests that is impossible from this process, if any.
    """

    def __init__(
        self,
        descriptor: int,
        texts: dict[str, str] | None = None,
        files: Sequence[str] = (),
        known: dict[str, Any] | None = None,
    ) -> None:
        self._channel = Channel(descriptor)
        self._compiling = False
        self.invalid: dict[str, Any] = {}
        self.flags = 0
        self.doubts: set[str] = set()
        self._flows = Flows(texts or {}, files, known)
        watch(lambda: self.doubts.add("nothing"), self._note_few)
        self._checks = Checks(self._flows.asserts)
        self._reached = Reached(self._flows.assertions)
        self._codec = Codec(self._give, self._take, self._notice)
        self._changed: set[int] = set()  # the containers that the program has changed in this request
        self._used: list[Any] = []  # methods of the tests' objects that it has called in this request
        self._given: collections.deque[Any] = collections.deque(maxlen=_LAST)  # tuples and texts
        self.gone: str | None = None
        self.own_operators = False
        self.iterated: set[int] = set()
        self.asked: set[int] = set()
        self.methods: set[int] = set()
        self.received_arguments = False
        self.missing: set[str] = set()
        self._altered = False
        self._handed: set[int] = set()  # the containers that the tests have created
        self.needs_sharing: str | None = None
        self._kinds: dict[int, Any] = {}
        self._things: dict[int, Any] = {}
        self._own: list[Any] = []
        self._numbers: dict[int, int] = {}

    def cannot(self, why: str) -> NeedsSharing:
        """Record that the tests need the program in their own process, and return the exception for it."""
        self.needs_sharing = self.needs_sharing or why
        return NeedsSharing(why)

    def compile(self, path: str, module: str, source: str) -> None:
        """Let the program be compiled in its process, meanwhile; nothing of it runs before `load`."""
        parts = [path, module, source]
        try:
            self._channel.send({"do": "compile", "changed": [], "parts": parts, "forgotten": []})
        except Closed as error:
            self.gone = str(error)
        self._compiling = True

    def is_known_invalid(self, *, wait: bool = True) -> bool:
        """Whether the program does not compile; False if that is not yet known and not to be waited for."""
        if self._compiling and self.gone is None and (wait or self._channel.has_message()):
            self._compiling = False
            try:
                _, (found, self.flags) = self._taken_in(self._channel.receive())
            except Closed as error:
                self.gone = str(error)
                return False
            self.invalid = found or {}
        return bool(self.invalid)

    def ask(self, what: str, *parts: Any) -> Any:
        """Send a request to the program, and return the value of its reply."""
        if self.gone is not None:
            raise Closed(self.gone)
        tracer = sys.gettrace()
        sys.settrace(None)  # do not trace our own code
        files = files_in(parts) if self._flows.is_at("mirrored") else {}
        try:
            value = self._ask(what, parts, tracer)
        except Closed as error:
            self.gone = str(error)
            raise
        finally:
            sys.settrace(tracer)
        if any(state_of(path) != state for path, state in files.items()):
            self.own_operators = True
        if what not in _SILENT:
            self._note_value(value)
        if type(value) in (tuple, str, bytes):
            self._given.append(value)
        return value

    def close(self) -> None:
        """Close the connection, which ends the program's process."""
        self._channel.close()

    def begin(self, case: str) -> None:
        """Record that a case of the tests begins."""
        self._reached.begin(case)

    def finish(self, results: Sequence[tuple[str, str, str]], tests: Sequence[KnownReliance]) -> list[str]:
        """All doubts, after the tests.

        Args:
            results: The name, outcome and message of each case.
            tests: The reliance of each text of tests on the program.
        """
        without = self._reached.without([name for name, outcome, _ in results if outcome == PASSED])
        outcomes = {outcome for _, outcome, _ in results}
        unmade = self._flows.unmade()
        found = {
            "unasserted": any(map(self._flows.is_asserting, without))
            or (bool(tests) and all(each.holds("checks_nothing") for each in tests)),
            "guarded": any(each.touches(condition) for condition in unmade for each in tests),
            "unused": self._checks.unused,
            "own": bool(tests) and all(map(self._compares_own, tests)),
            "skipped": any(
                (SKIPPED in outcomes and each.holds("skips")) or each.holds("leaves_out") for each in tests
            ),
            "by name": any(each.holds("compares_by_name") for each in tests),
            "code": any(each.holds("runs_what_it_gives") for each in tests),
            "prefix": any(each.holds("compares_no_more") for each in tests),
            "missing": "" in self.missing
            or any(each.asks_for(name) for each in tests for name in self.missing),
        }
        self.doubts |= {doubt for doubt, holds in found.items() if holds}
        return sorted(self.doubts)

    @property
    def facts(self) -> dict[str, Any] | None:
        """What this run has found in the tests, for later runs with them; None if nothing is new."""
        return self._flows.facts

    def _compares_own(self, tests: KnownReliance) -> bool:
        return (
            tests.holds("compares_its_own")
            or (self.received_arguments and tests.holds("compares_by_methods"))
            or (self._altered and tests.holds("compares_altered"))
        )

    def note_name(self, name: str, value: Any) -> None:
        """Record an empty value of a name of the program, if the tests loop over that name."""
        if is_hollow(value) and self._flows.is_looped(name):
            self.doubts.add("nothing")

    def note_end(self) -> None:
        """Record that an iterator of the program has no item, if the tests loop over it."""
        if self._flows.is_at("taken"):
            self.doubts.add("nothing")

    def _note_value(self, value: Any) -> None:
        """Record that a value of the program is empty, if the tests loop over it or search in it."""
        if is_hollow(value):
            ordered = value is not None and type(value) is not int and self._flows.is_at("ordered")
            if ordered or self._flows.is_at("given"):
                self.doubts.add("nothing")
        if type(value) in (str, bytes) and not value and self._flows.is_at("within"):
            self.doubts.add("nothing")

    def _note_few(self, container: Any) -> None:
        """Record that a container from the program ends a loop of the tests early."""
        number = self._codec.table.number(container)
        given = container is None or (number is not None and number not in self._handed)
        if given or any(each is container for each in self._given):
            self.doubts.add("few")

    def _notice(self, value: Any) -> None:
        """Record a value of the program that matches anything, such as NaN or the class `object`."""
        if type(value) is type:
            self.own_operators = self.own_operators or value in _WIDE
        elif plain.is_not_finite(value) and not self._flows.mention(r"(nan|inf|infinity)\b"):
            self.doubts.add("nan")

    def _note_effects(self, value: Any, error: BaseException | None) -> None:
        """Record the effects of a request on objects of the tests, if they compare with these."""
        handed = self._changed & self._handed
        emptied = any(self._codec.table.holds(number) is False for number in handed)
        if handed and (emptied or value is not None) and self._flows.is_at("again"):
            self.own_operators = True
        if handed and value is None and self._flows.is_at("again"):
            self._altered = True
        if error is not None and not isinstance(error, AssertionError) and self._flows.is_under("caught"):
            self.doubts.add("caught")
        if self._used and value is not None and self._flows.is_at("mirrored"):
            self.own_operators = True
        if any(map(is_emptied, self._used)) and self._flows.is_at("again"):
            self.own_operators = True
        if isinstance(error, (LookupError, AttributeError)) and is_special(tests_frame()):
            self.own_operators = True
        if self._checks.take_failed() and not isinstance(error, AssertionError):
            self.doubts.add("swallowed")

    def _ask(self, what: str, parts: tuple[Any, ...], tracer: Any) -> Any:
        codec, table = self._codec, self._codec.table
        before, self._changed, self._used = (self._changed, self._used), set(), []
        try:
            changed, following = codec.changes(), table.next
            request = {"do": what, "changed": changed, "parts": [codec.encode(part) for part in parts]}
            self._handed.update(range(following, table.next))
            table.settle()
            self._channel.send(request | {"forgotten": table.unheld()})
        except (ValueError, RecursionError) as problem:
            raise self.cannot(
                f"the tests pass a value that is too large or nested too deeply: {problem}"
            ) from None
        while True:
            reply = self._channel.receive()
            if "back" not in reply:
                break
            self._serve(reply, tracer)
        error, value = self._taken_in(reply)
        self._note_effects(value, error)
        self._changed, self._used = self._changed | before[0], self._used + before[1]
        if isinstance(error, StopIteration) and what == "special" and parts[0] == "__next__":
            raise error
        if isinstance(error, _ENDINGS):
            raise EndedByProgram(f"the program raised {type(error).__name__}: {error}".rstrip(": "))
        if error is not None:
            raise error
        return value

    def _taken_in(self, reply: dict[str, Any]) -> tuple[BaseException | None, Any]:
        """The exception or value of a reply; its output and its changes are applied in this process."""
        try:
            for stream, text in zip((sys.stdout, sys.stderr), reply.get("printed", ())):  # noqa: B905
                if text:
                    stream.write(str(text))
            self._apply_changes(reply.get("changed", []))
            error = self._error(reply["error"]) if "error" in reply else None
            value = self._codec.decode(reply.get("value"))
            self._codec.table.settle()
        except NeedsSharing:
            raise
        except Exception as problem:
            raise Closed("the program sends an invalid message") from problem
        return error, value

    def _apply_changes(self, changes: list[Any]) -> None:
        self._codec.apply_changes(changes)
        self._changed.update(number for number, _ in changes)

    def _serve(self, request: dict[str, Any], tracer: Any) -> None:
        """Handle a use of an object of the tests by the program; calls of functions may be traced."""
        try:
            thing = self._own[request["of"]]
            self._apply_changes(request["changed"])
            arguments, options = (self._codec.decode(part) for part in request["parts"])
            self._codec.table.settle()
        except Exception as problem:
            raise Closed("the program sends an invalid message") from problem
        code, following = None, self._codec.table.next
        if request["back"] == "call":
            code = self._checks.call(thing)
            if not isinstance(thing, types.FunctionType):
                self._used.append(getattr(thing, "__self__", thing))
        try:
            sys.settrace(tracer)
            try:
                value = use(request["back"], thing, arguments, options)
            finally:
                sys.settrace(None)
            reply: dict[str, Any] = {
                "changed": self._codec.changes(),
                "value": self._codec.encode(value),
            }
        except (Closed, NeedsSharing):
            raise
        except Exception as error:
            if isinstance(error, AssertionError):
                self._checks.fail(code)
            kind = type(error).__name__
            known = vars(builtins).get(kind) is type(error)
            reply = {
                "changed": self._codec.changes(),
                "raised": [-1 if known else self._keep(error), kind, str(error)],
            }
        self._handed.update(range(following, self._codec.table.next))
        self._codec.table.settle()
        self._channel.send(reply)

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
        if isinstance(value, UNSAFE):
            raise self.cannot(f"the tests pass a {type(value).__name__} to the program")
        self._checks.hand_over(value)
        return ["mine", self._keep(value)]

    def _take(self, node: list[Any]) -> Any:
        kind, number = node[:2]
        if kind == "yours":
            return self._own[number]
        if kind == "class":
            found = self._kind(number)
            self._notice(found)
            return found
        if kind == "mine":
            made = self._things.get(number)
            if made is None:
                made = object.__new__(self._kind(node[2]))
                object.__setattr__(made, "_handle", int(number))
                self._things[number] = made
            return made
        raise ValueError(f"no value is a {kind}")

    def _kind(self, node: list[Any]) -> Any:
        """The proxy for a class; a real class if it is an exception."""
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
            made = type(
                own_name(str(name)), tuple(failures), {"__module__": str(module), "_candidate_class": number}
            )
        else:
            made = proxy_class(self, number, [module, name, special, awaitable], mapped)
        self._kinds[number] = made
        return made

    def _error(self, node: list[Any]) -> BaseException:
        if node[0] == "raised":
            kept = self._own[node[1]]
            if isinstance(kept, Exception) and not isinstance(kept, unittest.SkipTest):
                return kept
            return RuntimeError("the tests raised something else")
        _, kind, arguments, more, text = node
        found = self._kind(kind)
        values = [self._codec.decode(part) for part in arguments]
        held = [(str(key), self._codec.decode(value)) for key, value in more]
        if not (isinstance(found, type) and issubclass(found, BaseException)):
            return RuntimeError(str(text))
        kind_of: Any = found
        error: BaseException = kind_of.__new__(kind_of)
        if vars(builtins).get(found.__name__) is found:
            try:
                error = kind_of(*values)
            except TypeError:  # such as a Unicode error, with too few arguments
                error = RuntimeError(str(text))
        error.args = tuple(values)
        for key, value in held:
            if key.startswith("__") and key != "__notes__":
                continue
            try:
                setattr(error, key, value)
            except (AttributeError, TypeError):  # it cannot be set
                continue
        if "_candidate_class" in vars(found) and str(error) != text:
            message = str(text)
            setattr(found, "__str__", lambda this: message if this is error else "")  # noqa: B010
        return error


def _is_standard(value: Any) -> bool:
    module = value.__module__ or ""
    found = sys.modules.get(module)
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    origin = os.path.dirname(os.__file__)  # noqa: PTH120
    file = getattr(sys.modules.get(module), "__file__", None) or origin
    return found is value and file.startswith(origin) and "site-packages" not in file


def _exception(module: str, name: str) -> Any:
    """An exception class of the standard library, by its name, if its module is loaded.

    Nothing is imported: importing a module may have side effects.
    """
    top = module.partition(".")[0]
    if top in FRAMEWORKS or (top != "builtins" and top not in getattr(sys, "stdlib_module_names", ())):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = None if part.startswith("_") else getattr(found, part, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None
