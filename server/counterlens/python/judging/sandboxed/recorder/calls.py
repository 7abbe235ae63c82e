"""Makes calls in order and reports their results.

Lines of the report: `call N` before a call, `done N {…}` after it; `failed {…}` instead of both if there is
nothing to call. An observation has `r` (the result) or `x` (the class of the exception) or `l` (the limit
that was reached), `a` (the arguments after the call, null if unchanged), `o` (the printed output), `s` (what
else others can see of the call: state of the process, shared globals, calls of functions passed to it, parts
of the arguments in the result), `t` (its private traces: warnings, waiting, the program's own globals, the
state of `random`, the recursion limit), `e` (its outside effects), `b` (new arcs, if arcs are traced).
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import signal
import sys
import time
import types
import warnings
import zlib

from ..job import Output, send, take_task
from . import structure
from .steps import StepTracer, TooLong
from .surroundings import (
    PRIVATE,
    CallSurroundings,
    ReplacedModule,
    environment,
    resolve,
    set_environment,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_OUTSIDE = {
    "socket.connect": "uses the network",
    "socket.bind": "uses the network",
    "socket.getaddrinfo": "uses the network",
    "subprocess.Popen": "starts processes",
    "os.system": "starts processes",
    "os.exec": "starts processes",
    "os.fork": "starts processes",
    "os.posix_spawn": "starts processes",
    "os.listdir": "reads the file system",
    "os.scandir": "reads the file system",
    "os.mkdir": "writes files",
    "os.remove": "writes files",
    "os.rename": "writes files",
    "shutil.rmtree": "writes files",
    "tempfile.mkstemp": "writes files",
}
_WAIT = 5  # maximum wall-clock seconds of a call for each second of processor time that it may use
_INPUT = "3\n1 2 3\nab\n-4\n0.5\n"  # standard input of each call
_WRITTEN = 20000  # maximum bytes kept of what a call writes past `sys.stdout`
_DATA = (bool, int, float, complex, str, bytes, list, dict, set, frozenset, tuple, bytearray, type(None))
_PARTS, _LEVELS = 200, 3  # maximum parts and levels of arguments whose identity is looked for in a result


class Watch:
    """Records the outside effects of a call: files, network, processes."""

    def __init__(self) -> None:
        self.on = False
        self.seen: str | None = None
        sys.addaudithook(self._notice)

    def _notice(self, event: str, arguments: Any) -> None:
        if not self.on or self.seen is not None:
            return
        if event == "open":
            name = str(arguments[0])
            if not name.endswith((".py", ".pyc", ".so", ".pth")):  # files that an import opens
                self.seen = "opens files"
        elif event in _OUTSIDE and not _importing(event):
            self.seen = _OUTSIDE[event]


def _importing(event: str) -> bool:
    """Whether an import is listing folders."""
    frame: Any = sys._getframe(2)
    while event in ("os.listdir", "os.scandir") and frame is not None:
        if "importlib" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


class Sleeps:
    """Replaces `time.sleep`: it returns at once, and the clocks of `time` go on by as much."""

    def __init__(self) -> None:
        self.seconds = 0.0
        time.sleep = self._sleep
        for name in ("time", "monotonic", "perf_counter"):
            setattr(time, name, self._later(getattr(time, name)))

    def _sleep(self, seconds: Any, /) -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        self.seconds += seconds
        os.sched_yield()

    def _later(self, clock: Callable[[], float]) -> Callable[[], float]:
        return lambda: clock() + self.seconds


class Descriptors:
    """The standard streams, as files from which what a call writes is read."""

    def __init__(self) -> None:
        self._files = {}
        for number, name in ((1, "out"), (2, "err")):
            try:
                file = os.memfd_create(name)
                os.dup2(file, number)
                self._files[number] = file
            except (OSError, AttributeError):  # another system than Linux
                continue

    def take(self, number: int) -> str:
        """What was written since the last time."""
        file = self._files.get(number)
        if file is None:
            return ""
        try:
            text = os.pread(file, _WRITTEN, 0).decode("utf-8", "replace")
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
        except OSError:
            return ""
        return text


def main() -> None:
    """Read the task, make the calls, and exit without running the program's exit handlers."""
    task, descriptor = take_task()
    try:
        make_calls(task, lambda line: send(descriptor, line))
    finally:
        os._exit(0)


def make_calls(task: dict[str, Any], send: Callable[[str], None]) -> None:
    """Carry out one task.

    Args:
        task: `source`, `path`, `module`, `roots`; `target`, the qualified name of the callee; `calls`, each
            either `{"a": [texts], "k": {name: text}}`, expressions, or `{"v": [forms], "w": {name: form}}`,
            values as `structure` encodes them; both with `e`, variables of the environment, and, if an object
            is made, `m`, `[method, texts, {name: text}]` for each call of a method of it; `first`, the
            number of the first call; `seeded`, whether random numbers depend on the call alone; `shared`, the
            globals that are no private matter of the target; `seconds` for each call; `steps`, or null if
            branches are not traced; `stop`, whether to stop at the first limit.
        send: Receives the lines of the report.
    """
    sleeps = Sleeps()
    loaded = _load(task, send)
    if loaded is None:
        return
    module, target = loaded
    observer = _Observer(module, target, task, sleeps)
    signal.signal(signal.SIGALRM, _alarm)
    signal.signal(signal.SIGPROF, _alarm)
    for number, call in enumerate(task["calls"], task["first"]):
        send(f"call {number}")
        seen = observer.observe(call)
        send(f"done {number} {json.dumps(seen)}")
        if task["stop"] and "l" in seen:
            return


def _load(task: dict[str, Any], send: Callable[[str], None]) -> tuple[Any, Any] | None:
    sys.stdout = Output()
    if "async" in task["source"]:
        import asyncio  # noqa: F401 - before a call is observed
    try:
        program = ReplacedModule(task["source"], task["path"], task["module"])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", None) or str(error) or type(error).__name__
        send(
            "failed " + json.dumps({"kind": "invalid", "line": getattr(error, "lineno", None), "why": reason})
        )
        return None
    try:
        module = program.load(task["roots"])
    except BaseException as error:
        send("failed " + json.dumps({"kind": "import", "why": _describe(error)}))
        return None
    try:
        return module, resolve(module, task["target"])
    except AttributeError:
        send("failed " + json.dumps({"kind": "missing", "why": task["target"]}))
        return None


class _Observer:
    """Makes calls of one function, and observes all that they do."""

    def __init__(self, module: Any, target: Any, task: dict[str, Any], sleeps: Sleeps) -> None:
        self._target, self._seconds, self._seeded = target, task["seconds"], task["seeded"]
        self._module, self._sleeps, self._shared = module, sleeps, set(task["shared"])
        self._space = dict(vars(module))
        self._space["__remade__"] = lambda text: structure.decode(json.loads(text), self._space)
        self._watch, self._surroundings, self._descriptors = Watch(), CallSurroundings(), Descriptors()
        self._steps = StepTracer(task["path"], task["steps"]) if task["steps"] else None

    def observe(self, call: Any) -> dict[str, Any]:
        """Make one call; see the module for the result."""
        try:
            positional, named = _arguments(call, self._space)
            steps = [(m, *_arguments({"a": a, "k": k}, self._space)) for m, a, k in call.get("m") or ()]
        except BaseException as error:
            return {"l": "the arguments cannot be created: " + _describe(error)}
        before = structure.Encoder(pull=False).encode([positional, named])
        parts = _parts([positional, named])
        log: list[str] = []
        positional = [_log_calls(value, log) for value in positional]
        named = {name: _log_calls(value, log) for name, value in named.items()}
        data = self._globals()
        output, errors = Output(), Output()
        sys.stdin, sys.stdout, sys.stderr = io.StringIO(_INPUT), output, errors
        before_call, self._sleeps.seconds = environment(), 0.0
        _set_variables(call.get("e") or {})
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            if self._seeded:
                _seed(json.dumps(call))
            self._surroundings.take()
            seen = self._run(positional, named, parts, steps)
            for change in self._surroundings.changes():
                seen["t" if change in PRIVATE else "s"].append(change)
        set_environment(before_call)
        if self._sleeps.seconds:
            seen["t"].append(f"waits {self._sleeps.seconds:g} s")
        names = {_name(warning.category) for warning in warned} - {"ResourceWarning", "PytestUnraisable"}
        seen["t"] += [f"warns: {name}" for name in sorted(names)]
        seen["s"] += [f"calls a function passed to it with {text}" for text in sorted(set(log))]
        for name, text in self._globals().items():
            if data.get(name, text) != text:
                change = f"changes the global variable {name}"
                seen["s" if name in self._shared else "t"].append(
                    f"{change} to {text}" if name in self._shared else change
                )
        after = structure.Encoder(pull=False).encode([positional, named])
        seen["a"] = None if after == before else after
        for stream in (sys.__stdout__, sys.__stderr__):
            _flush(stream)
        seen["o"] = output.getvalue() + self._descriptors.take(1)
        unseen = errors.getvalue() + self._descriptors.take(2)
        if unseen:
            seen["s"].append(f"writes to stderr: {unseen[:200]!r}")
        return seen

    def _run(
        self, positional: list[Any], named: dict[str, Any], parts: dict[int, str], history: Any
    ) -> dict[str, Any]:
        seen: dict[str, Any] = {"s": [], "t": []}
        watch, steps = self._watch, self._steps
        watch.seen, watch.on = None, True
        signal.setitimer(signal.ITIMER_PROF, self._seconds)
        signal.setitimer(signal.ITIMER_REAL, self._seconds * _WAIT)
        try:
            if steps:
                steps.start()
            try:
                result = self._target(*positional, **named)
                seen["s"] += _shared_parts(result, parts) + _shared_memory(result, positional)
                own = tuple(value for value in positional if type(value) in _DATA)
                encoder = structure.Encoder(own=own)
                # A generator runs here.
                seen["r"] = encoder.used(result, history) if history else encoder.encode(result)
            finally:
                if steps:
                    steps.stop()
        except TooLong:
            seen["l"] = "time"
        except (MemoryError, RecursionError) as error:
            seen["l"] = type(error).__name__
        except BaseException as error:
            seen["x"] = type(error).__name__
            if isinstance(error, RuntimeError) and "start new thread" in str(error):
                seen["l"] = "threads"
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        watch.on = False
        if steps and steps.exceeded:
            seen["l"] = "steps"
        seen["e"] = watch.seen
        seen["b"] = sorted(steps.arcs) if steps else None
        return seen

    def _globals(self) -> dict[str, str]:
        """The data in the module's globals, as text; long values are cut."""
        encoder = structure.Encoder(pull=False)
        return {
            name: json.dumps(encoder.encode(value))[:1000]
            for name, value in list(vars(self._module).items())
            if type(value) in _DATA and not name.startswith("__")
        }


def _seed(text: str) -> None:
    """Seed the generators of `random` and numpy that the program has imported."""
    for name in ("random", "numpy.random"):
        module = sys.modules.get(name)
        if module is not None:
            module.seed(zlib.crc32(text.encode()))


def _set_variables(variables: dict[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _log_calls(value: Any, log: list[str]) -> Any:
    """A function that records its calls, in place of a function; any other value as it is."""
    if not isinstance(value, types.FunctionType):
        return value

    @functools.wraps(value)
    def record(*positional: Any, **named: Any) -> Any:
        if len(log) < _PARTS:
            log.append(json.dumps(structure.Encoder(pull=False).encode([positional, named]))[:500])
        return value(*positional, **named)

    return record


def _parts(value: Any, place: str = "", level: int = 0, into: dict[int, str] | None = None) -> dict[int, str]:
    """The identity of each changeable part of some arguments that is not empty, and its place."""
    into = {} if into is None else into
    for key, item in _items(value):
        at = f"{place}[{key!r}]"
        if _is_changeable(item) and len(into) < _PARTS:
            into.setdefault(id(item), at)
        if level < _LEVELS:
            _parts(item, at, level + 1, into)
    return into


def _shared_parts(result: Any, parts: dict[int, str], place: str = "its result", level: int = 0) -> list[str]:
    """The parts of a result that are parts of the arguments."""
    if id(result) in parts and _is_changeable(result):
        where = parts[id(result)].partition("]")[2] or parts[id(result)]
        return [f"returns an argument itself: {place} is {where}"]
    if level >= _LEVELS:
        return []
    items = _items(result)[:_PARTS]
    return [
        text for key, item in items for text in _shared_parts(item, parts, f"{place}[{key!r}]", level + 1)
    ]


def _shared_memory(result: Any, arguments: list[Any]) -> list[str]:
    """Which arguments a view of bytes, or an array of numpy, shows."""
    numpy = sys.modules.get("numpy")
    if isinstance(result, memoryview):
        shared = [at for at, value in enumerate(arguments) if result.obj is value]
    elif numpy is not None and isinstance(result, numpy.ndarray):
        arrays = [at for at, value in enumerate(arguments) if isinstance(value, numpy.ndarray)]
        shared = [at for at in arrays if numpy.may_share_memory(arguments[at], result)]
    else:
        shared = []
    return [f"returns a view of argument {at}" for at in shared]


def _items(value: Any) -> list[tuple[Any, Any]]:
    if type(value) in (list, tuple):
        return list(enumerate(value))[:_PARTS]
    return list(value.items())[:_PARTS] if type(value) is dict else []


def _is_changeable(value: Any) -> bool:
    if type(value) in (list, dict, set, bytearray):
        return len(value) > 0
    return not isinstance(value, (*_DATA, type, types.FunctionType, types.ModuleType)) and hasattr(
        value, "__dict__"
    )


def _flush(stream: Any) -> None:
    with contextlib.suppress(Exception):  # closed, or replaced
        stream.flush()


def _name(kind: Any) -> str:
    return str(getattr(kind, "__name__", kind))


def _arguments(call: Any, space: Any) -> tuple[list[Any], dict[str, Any]]:
    if "v" in call:
        positional = [structure.decode(form, space) for form in call["v"]]
        return positional, {name: structure.decode(form, space) for name, form in call["w"].items()}
    positional = [eval(text, space) for text in call["a"]]  # noqa: S307 - written by the parent
    return positional, {name: eval(text, space) for name, text in call["k"].items()}  # noqa: S307


def _alarm(*_: Any) -> None:
    raise TooLong


def _describe(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:500]
    except BaseException:
        return type(error).__name__
