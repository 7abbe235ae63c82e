"""Runs given tests without the candidate: first to record their calls, then with the candidate's results.

The tests run in the process of the original, never of a candidate. They call a stand-in: when recording, it
calls the original and records the arguments; when replaying, it returns the candidate's result of the same
call, made in another process, as plain values. So no object, function or patch of the candidate is ever in
the process of the assertions.
"""

from __future__ import annotations

import builtins
import collections
import json
import linecache
import os
import random

from ..job import send, take_task
from . import structure
from .loading import ReplacedModule, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TESTS = "<tests>"
_ENDINGS = (StopIteration, StopAsyncIteration, GeneratorExit)
_LENT = ("Counter", "defaultdict", "OrderedDict", "deque")


class StandIn:
    """Replaces the function in the tests.

    Args:
        real: The original; called when recording.
        given: The results of the candidate's calls, in order; None when recording.
        calls: The expected calls, when replaying.
        classes: The original's classes, by name.
    """

    def __init__(self, real: Any, given: Any, calls: Any, classes: dict[str, Any]) -> None:
        self.real, self.given, self.calls, self.classes = real, given, calls, classes
        self.made: list[Any] = []

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """Handle one call of the tests."""
        encoder = structure.Encoder(pull=False)
        forms: dict[str, Any] = {"v": [encoder.encode(argument) for argument in positional]}
        forms["w"] = {name: encoder.encode(argument) for name, argument in named.items()}
        self.made.append(forms)
        if self.given is None:
            return self.real(*positional, **named)
        at = len(self.made) - 1
        if at >= len(self.calls) or self.calls[at] != forms:
            raise AssertionError("the tests call it with different arguments than before")
        seen = self.given[at]
        if seen["a"] is not None:
            self._change(positional, seen["a"])
        if seen["x"] is not None:
            raise self._exception(seen["x"])
        return structure.decode(seen["r"], self.classes)

    def _change(self, positional: Any, after: Any) -> None:
        """Repeat on the arguments the changes that the candidate made to its copies."""
        for value, form in list(zip(positional, after[1][1:])):  # noqa: B905 - Python 3.8 has no `strict`
            if type(value) in (list, set, dict):
                changed = structure.decode(form, self.classes)
                value.clear()
                value.extend(changed) if type(value) is list else value.update(changed)

    def _exception(self, name: str) -> BaseException:
        kind: Any = self.classes.get(name) or getattr(builtins, name, None)
        if not (isinstance(kind, type) and issubclass(kind, BaseException)) or issubclass(kind, _ENDINGS):
            kind = type(
                name, (Exception,), {"__module__": "builtins"}
            )  # otherwise it would end a loop of the tests
        error: BaseException = kind("raised by the program")
        return error


def main() -> None:
    """Read the task, run the tests, report and exit."""
    task, descriptor = take_task()
    try:
        report = run_tests(task)
    except BaseException as error:
        report = {"broken": f"{type(error).__name__}: {error}"[:500]}
    send(descriptor, json.dumps(report))
    os._exit(0)


def run_tests(task: dict[str, Any]) -> dict[str, Any]:
    """The report: the calls that were made, and the first failure, if any.

    Args:
        task: `source` and `module` of the original, `target`, `tests`, `calls` and `given` (None to record).
    """
    random.seed(0)
    module = ReplacedModule(task["source"], "program.py", task["module"]).load([])
    space = dict(vars(module))
    classes = {name: getattr(collections, name) for name in _LENT}
    classes.update({name: value for name, value in space.items() if isinstance(value, type)})
    stand_in = StandIn(resolve(module, task["target"]), task["given"], task["calls"], classes)
    space[task["target"]] = stand_in
    text = task["tests"]
    linecache.cache[_TESTS] = (len(text), None, text.splitlines(keepends=True), _TESTS)
    failed = message = None
    try:
        exec(compile(text, _TESTS, "exec", dont_inherit=True), space)  # noqa: S102 - in the sandbox
    except BaseException as error:
        failed, message = _where(error), f"{type(error).__name__}: {error}".rstrip(": ")[:500]
    return {"calls": stand_in.made, "failed": failed, "message": message}


def _where(error: BaseException) -> str:
    """The line of the tests that failed."""
    step, line = error.__traceback__, 0
    while step is not None:
        if step.tb_frame.f_code.co_filename == _TESTS:
            line = step.tb_lineno
        step = step.tb_next
    return linecache.getline(_TESTS, line).strip()[:300] or "the tests"
