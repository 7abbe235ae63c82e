"""Makes calls in order and reports their results.

Lines of the report: `call N` before a call, `done N {…}` after it; `failed {…}` instead of both if there is
nothing to call. An observation has `r` (the result) or `x` (the class of the exception) or `l` (the limit
that was reached), `a` (the arguments after the call, null if unchanged), `o` (the printed output), `e` (its
outside effects), `b` (new arcs, if arcs are traced).
"""

from __future__ import annotations

import json
import os
import signal
import sys

from ..job import Output, send, take_task
from . import structure
from .loading import ReplacedModule, resolve
from .steps import StepTracer, TooLong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_OUTSIDE = {
    "builtins.input": "reads its standard input",
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
    "time.sleep": "waits",
}


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
            values as `structure` encodes them; `first`, the number of the first call; `seconds` for each
            call; `steps`, or null if branches are not traced; `stop`, whether to stop at the first limit.
        send: Receives the lines of the report.
    """
    loaded = _load(task, send)
    if loaded is None:
        return
    module, target = loaded
    watch = Watch()
    steps = StepTracer(task["path"], task["steps"]) if task["steps"] else None
    signal.signal(signal.SIGALRM, _alarm)
    space = dict(vars(module))
    for number, call in enumerate(task["calls"], task["first"]):
        send(f"call {number}")
        seen = _call(target, call, space, watch, steps, task["seconds"])
        send(f"done {number} {json.dumps(seen)}")
        if task["stop"] and "l" in seen:
            return


def _load(task: dict[str, Any], send: Callable[[str], None]) -> tuple[Any, Any] | None:
    sys.stdout = Output()
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
        send("failed " + json.dumps({"kind": "import", "why": _described(error)}))
        return None
    try:
        return module, resolve(module, task["target"])
    except AttributeError:
        send("failed " + json.dumps({"kind": "missing", "why": task["target"]}))
        return None


def _call(target: Any, call: Any, space: Any, watch: Watch, steps: StepTracer | None, seconds: float) -> Any:
    try:
        positional, named = _arguments(call, space)
    except BaseException as error:
        return {"l": "the arguments cannot be created: " + _described(error)}
    before = structure.Encoder(pull=False).encode([positional, named])
    output = sys.stdout = Output()
    seen: dict[str, Any] = {}
    watch.seen, watch.on = None, True
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        if steps:
            steps.start()
        try:
            result = target(*positional, **named)
            seen["r"] = structure.Encoder().encode(result)  # a generator runs here
        finally:
            if steps:
                steps.stop()
    except TooLong:
        seen["l"] = "time"
    except (MemoryError, RecursionError) as error:
        seen["l"] = type(error).__name__
    except BaseException as error:
        seen["x"] = type(error).__name__
    signal.setitimer(signal.ITIMER_REAL, 0)
    watch.on = False
    if steps and steps.exceeded:
        seen["l"] = "steps"
    after = structure.Encoder(pull=False).encode([positional, named])
    seen["a"] = None if after == before else after
    seen["o"] = output.getvalue()
    seen["e"] = watch.seen
    seen["b"] = sorted(steps.arcs) if steps else None
    return seen


def _arguments(call: Any, space: Any) -> tuple[list[Any], dict[str, Any]]:
    if "v" in call:
        positional = [structure.decode(form, space) for form in call["v"]]
        return positional, {name: structure.decode(form, space) for name, form in call["w"].items()}
    positional = [eval(text, space) for text in call["a"]]  # noqa: S307 - written by the parent
    return positional, {name: eval(text, space) for name, text in call["k"].items()}  # noqa: S307


def _alarm(*_: Any) -> None:
    raise TooLong


def _described(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:500]
    except BaseException:
        return type(error).__name__
