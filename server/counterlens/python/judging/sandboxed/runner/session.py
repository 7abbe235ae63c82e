"""One run: read the task, run it, report, and exit.

Runs the loaded tests on variants of the program: a fork for each, which replaces the code of functions.

The original is imported and the tests are collected once. A variant differs from the original inside of
functions only; its fork compiles the statement that differs, and gives the new code to the functions that
have the old one. What the original did when it was imported stays as it was.
"""

from __future__ import annotations

import builtins
import fcntl
import gc
import importlib.util
import inspect
import json
import math
import os
import resource
import signal
import sys
import tempfile
import types

from ..imported_ahead import forget_hidden, own_modules
from ..job import open_pipe, take_task
from ..kept_code import KeptCode
from .candidate import INVALID, Candidate, invalid
from .cases import Cases, describe
from .script import FUTURE, run_examples, run_script, run_supplied
from .tamper_check import TamperCheck

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .candidate import Candidate


_FUNCTION = 1  # CO_OPTIMIZED: the code of a function, not of a module or class
_Code = types.CodeType


class Variants:
    """The variants of one task, and the processes that run them.

    Args:
        task: `blocks`, for each variant the first line of a statement of the original, the statement, and its
            text in the variant; `jobs`, the number of forks at a time; `times` and `least`, which bound the
            processor time of each, as a multiple of the original's and in seconds. None without variants.
        finish: Sends a report and ends the process.
    """

    def __init__(self, task: dict[str, Any] | None, finish: Callable[[dict[str, Any]], None]) -> None:
        self._task, self._finish = task, finish
        self._number: int | None = None
        self._ended: dict[int, int] = {}
        self._lock: Any = None
        self._candidate: Any = None
        self._functions: list[types.FunctionType] = []

    def begin(self, candidate: Candidate) -> bool:
        """Whether to run the tests now: not in the process that forks for each variant, and returns last."""
        if self._task is None or self._number is not None:
            return True
        if self._ended:
            return False
        self._candidate, self._lock = candidate, tempfile.TemporaryFile()  # noqa: SIM115 - until it ends
        self._functions = [
            each
            for each in gc.get_objects()
            if type(each) is types.FunctionType and each.__code__.co_filename == candidate.path
        ]
        inspect.getmodule(
            candidate.code
        )  # so that it knows the files of all modules: each failure asks for one
        gc.freeze()  # collections in the forks copy none of the shared pages
        seconds, running = None, {}
        for number in range(-1, len(self._task["blocks"])):  # the first one is the original
            pid = os.fork()
            if pid == 0:
                self._number = number
                self._enter(seconds)
                return True
            running[pid] = number
            if number < 0:
                used = self._wait(running)
                seconds = max(self._task["least"], self._task["times"] * used)
            elif len(running) >= self._task["jobs"]:
                self._wait(running)
        while running:
            self._wait(running)
        return False

    def _wait(self, running: dict[int, int]) -> float:
        """Wait for the end of one of the forks; the processor time of it."""
        pid, status, used = os.wait4(-1, 0)
        self._ended[running.pop(pid)] = status
        return used.ru_utime + used.ru_stime

    def end(self, report: dict[str, Any]) -> None:
        """Send the report of this process, and end it."""
        if self._number is not None:
            fcntl.lockf(self._lock, fcntl.LOCK_EX)  # released when this process ends
            used = resource.getrusage(resource.RUSAGE_SELF)
            spent = int(1e6 * (used.ru_utime + used.ru_stime))
            report = {**_shorten(report), "variant": self._number, "microseconds": spent}
        elif self._ended:
            report = {**report, "kind": "variants", "ended": list(self._ended.items())}
        self._finish(report)

    def _enter(self, seconds: float | None) -> None:
        """Become a variant, under its limits; the signals of the timers end the process."""
        if seconds is None or self._task is None or self._number is None:
            return
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, 4 * seconds + 2)  # it may wait, and the machine may be busy
        limit = math.ceil(seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        if not self._replace(*self._task["blocks"][self._number]):
            self.end({"kind": "apart"})

    def _replace(self, line: int, old: str, new: str) -> bool:
        """Give functions the code of a variant; False if it must run by itself."""
        try:
            pairs = changed_functions(self._compiled(line, old), self._compiled(line, new))
        except INVALID:
            return False
        if not pairs:
            return False
        replaced = {_key(before): after for before, after in pairs}
        changes = [
            (each, replaced[_key(each.__code__)])
            for each in self._functions
            if _key(each.__code__) in replaced
        ]
        for function, after in changes:
            function.__code__ = after
        return len(replaced) == len(pairs) and any(after is pairs[0][1] for _, after in changes)

    def _compiled(self, line: int, text: str) -> _Code:
        flags = self._candidate.code.co_flags & FUTURE
        code: _Code = compile("\n" * (line - 1) + text, self._candidate.path, "exec", flags, True)
        return code


def changed_functions(old: _Code, new: _Code) -> list[tuple[_Code, _Code]] | None:
    """The functions that differ, each before those inside it; None if anything else differs."""
    if old.co_flags & _FUNCTION:
        if _describe(old, inside=True) == _describe(new, inside=True):
            return []
        if _signature(old) != _signature(new):
            return None
        pairs = [(old, new)]
    elif _describe(old, inside=False) == _describe(new, inside=False):
        pairs = []
    else:
        return None
    inner, others = _inner(old), _inner(new)
    if [each.co_name for each in inner] != [each.co_name for each in others]:
        return pairs or None
    for before, after in zip(inner, others):  # noqa: B905 - Python 3.8 has no `strict`
        more = changed_functions(before, after)
        if more is None and not pairs:
            return None
        pairs += more or []
    return pairs


def _key(code: _Code) -> tuple[Any, ...]:
    """What tells a function of the file from others; the rest depends on what is compiled with it, too."""
    constants = [repr(constant) for constant in code.co_consts if type(constant) is not _Code]
    return (code.co_name, code.co_firstlineno, code.co_varnames, code.co_names, *constants)


def _inner(code: _Code) -> list[_Code]:
    return [constant for constant in code.co_consts if type(constant) is _Code]


def _signature(code: _Code) -> tuple[Any, ...]:
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
    arguments = code.co_varnames[: sum(counts) - code.co_posonlyargcount]
    return (code.co_name, counts, arguments, code.co_flags, code.co_freevars)


def _describe(code: _Code, *, inside: bool) -> tuple[Any, ...]:
    """What a code does, without the lines at which it stands; `inside` describes inner functions, too."""
    constants = [
        (_describe(constant, inside=True) if inside else None)
        if type(constant) is _Code
        else (type(constant), repr(constant))
        for constant in code.co_consts
    ]
    parts = (
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_cellvars,
        getattr(code, "co_exceptiontable", b""),
    )
    return (*_signature(code), *parts, constants)


def _shorten(report: dict[str, Any]) -> dict[str, Any]:
    """A report on cases without the names of those that passed: there may be thousands, for each variant."""
    if report["kind"] != "cases":
        return report
    results = [("", *each[1:]) if each[1] == "passed" else each for each in report["results"]]
    return {**report, "results": results}


def main() -> None:
    """Run the task and exit; never returns."""
    task, descriptor = take_task()
    case, finish = open_pipe(descriptor, task.pop("nonce"))
    variants = Variants(task.pop("variants", None), finish)
    try:
        report = judge(task, case, variants)
    except BaseException as error:
        report = {"kind": "broken", "message": describe(error)}
    variants.end(report)


def judge(task: dict[str, Any], case: Callable[[str], None], variants: Variants) -> dict[str, Any]:
    """The report on one task."""
    tampering = TamperCheck()
    try:
        candidate = Candidate(task["path"], task["module"], task["source"], tampering)
    except INVALID as error:
        return invalid(error)
    if "record" in task:
        from ..call_log import CallLog

        candidate.log = CallLog(task["record"])
    kept = KeptCode(task.get("kept", ""), task["folder"] or "")
    kept.install(candidate.is_at)
    for folder in reversed(task["roots"]):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    forget_hidden(task["roots"])
    if task["folder"]:
        os.chdir(task["folder"])
    unset = watch_environment(os.path.join(task["folder"] or os.path.dirname(task["path"]), ""))  # noqa: PTH118, PTH120
    report = {**_run(task, candidate, tampering, case, kept, variants), "unset": unset}
    if candidate.log is not None:
        report["calls"] = json.dumps(candidate.log.calls)
    return {"kind": "tampered", "message": tampering.broken} if tampering.broken else report


def watch_environment(folder: str) -> list[str]:
    """The names of variables that code in a folder will read from the environment although they are unset."""
    names: list[str] = []

    class Environment(type(os.environ)):  # type: ignore[misc]
        def __getitem__(self, name: str) -> str:
            try:
                return str(super().__getitem__(name))
            except KeyError:
                frame = sys._getframe(1)
                while frame.f_back is not None and frame.f_code.co_filename in own:
                    frame = frame.f_back
                file = frame.f_code.co_filename
                if file.startswith(folder) and "site-packages" not in file and name not in names:
                    names.append(name)
                raise

    own = {os.getenv.__code__.co_filename, type(os.environ).get.__code__.co_filename}
    os.environ.__class__ = Environment
    return names


def _run(
    task: dict[str, Any],
    candidate: Candidate,
    tampering: TamperCheck,
    announce: Callable[[str], object],
    kept: KeptCode,
    variants: Variants,
) -> dict[str, Any]:
    if "examples" in task:
        _hide()
        return run_examples(task["examples"], candidate, announce, variants.begin)
    every, without = bool(task.get("every")), frozenset(task.get("without", ()))
    cases = Cases(candidate, tampering, announce, every=every, without=without, begin=variants.begin)
    run = _case_runner(kept) if "files" in task else None
    _hide()
    if run is not None:
        run(task["files"], cases)
    if "script" in task and cases.problem is None and not cases.failed:
        run_script(task["script"], cases)
    if "supplied" in task:
        run_supplied(task["supplied"], cases)
    return cases.report()


def _case_runner(kept: KeptCode) -> Callable[[list[dict[str, Any]], Cases], None]:
    if importlib.util.find_spec("pytest"):
        from ..pytest_start import take_rewritten
        from .pytest_cases import run_pytest

        take_rewritten(kept)
        return run_pytest
    from .unittest_cases import run_unittest

    return run_unittest


def _hide() -> None:
    """Hide this package, so that it neither shadows the user's modules nor is visible to the candidate."""
    for name in own_modules():
        del sys.modules[name]
