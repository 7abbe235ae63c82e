"""One run: read the task, run it, report, and exit."""

from __future__ import annotations

import builtins
import importlib.util
import json
import os
import sys

from ..imported_ahead import forget_hidden, own_modules
from ..job import open_pipe, take_task
from ..kept_code import KeptCode
from .candidate import INVALID, Candidate, invalid
from .cases import Cases
from .failures import describe
from .script import run_examples, run_script, run_supplied
from .tamper_check import TamperCheck

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .candidate import Candidate


def main() -> None:
    """Run the task and exit; never returns.

    A program can reach the variables of all frames that wait for it. The function that sends the report is in
    none: it waits on the stack of this frame to be called with the report.
    """
    task, descriptor = take_task()
    pipe: list[Any] = [*open_pipe(descriptor, task.pop("nonce"))]
    pipe.pop()(_report(task, pipe.pop()))


def _report(task: dict[str, Any], case: Callable[[str, str], None]) -> dict[str, Any]:
    try:
        return judge(task, case)
    except BaseException as error:
        return {"kind": "broken", "message": describe(error)}


def judge(task: dict[str, Any], case: Callable[[str, str], None]) -> dict[str, Any]:
    """The report on one task."""
    tampering = TamperCheck([Cases])
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
    report = {**_run(task, candidate, tampering, case, kept), "unset": unset}
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
    announce: Callable[[str, str], object],
    kept: KeptCode,
) -> dict[str, Any]:
    if "examples" in task:
        _hide()
        return run_examples(task["examples"], candidate, announce)
    every, without = bool(task.get("every")), frozenset(task.get("without", ()))
    cases = Cases(candidate, tampering, announce, every=every, without=without)
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
