"""One run: read the task, run what it asks for, report, and leave."""

from __future__ import annotations

import builtins
import importlib.util
import json
import os
import sys
import types

from .candidate import Candidate
from .cases import Cases
from .examples import run_examples
from .line import open_line
from .seals import Seals
from .wording import describe

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def main() -> None:
    """Never returns."""
    with open("task.json", encoding="utf-8") as file:  # noqa: PTH123 - pathlib would slow the start
        task = json.load(file)
    os.unlink("task.json")  # noqa: PTH108
    descriptor = int(os.environ.pop("COUNTERLENS_RESULT_FD"))
    os.set_inheritable(descriptor, False)
    case, finish = open_line(descriptor, task.pop("nonce"))
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.argv[:] = [task["path"]]
    try:
        report = judge(task, case)
    except BaseException as error:
        report = {"kind": "broken", "message": describe(error)}
    finish(report)


def judge(task: dict[str, Any], case: Callable[[str], None]) -> dict[str, Any]:
    """The report on one task."""
    seals = Seals()
    try:
        candidate = Candidate(task["path"], task["module"], task["source"], seals)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", None) or str(error) or type(error).__name__
        return {"kind": "invalid", "line": getattr(error, "lineno", None), "message": reason}
    for folder in reversed(task["roots"]):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    if task["folder"]:
        os.chdir(task["folder"])
    if "examples" in task:
        _hide()
        report = run_examples(task["examples"], candidate, case)
    else:
        cases = Cases(candidate, seals, case)
        run = _case_runner()
        _hide()
        run(task["files"], cases)
        report = cases.report()
    return {"kind": "tampered", "message": seals.broken} if seals.broken else report


def _case_runner() -> Callable[[list[dict[str, Any]], Cases], None]:
    if importlib.util.find_spec("pytest"):
        from .pytest_cases import run_pytest

        return run_pytest
    from .unittest_cases import run_unittest

    return run_unittest


def _hide() -> None:
    """Take this package out of the way of the user's modules, and out of the candidate's sight."""
    for name in list(sys.modules):
        if name.partition(".")[0] == __name__.partition(".")[0]:
            del sys.modules[name]
