"""Runs the chosen cases if pytest is not installed: `unittest` cases and plain functions."""

from __future__ import annotations

import builtins
import importlib
import inspect
import os
import sys
import traceback
import unittest

from .cases import FAILED, PASSED, SKIPPED, UNSUPPORTED, Cases
from .wording import describe

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_NEEDS_PYTEST = "it needs pytest, which this interpreter does not have"


def run_unittest(files: list[dict[str, Any]], cases: Cases) -> None:
    """Fill in `cases`, up to the first failure; a case that needs pytest is recorded as unsupported.

    Args:
        files: For each its `path`, `module`, the `root` that makes it importable, and its `cases` as pairs
            of class name (or empty) and function name.
        cases: Collects the outcomes.
    """
    cases.watch(unittest.SkipTest)
    for file in files:
        name = file["path"].rpartition(os.sep)[2]
        for folder in (file["root"], file["path"].rpartition(os.sep)[0]):
            if folder not in sys.path:
                sys.path.insert(0, folder)
        labels = {
            case: "::".join(part for part in (name, *case) if part) for case in map(tuple, file["cases"])
        }
        wanted = [case for case in labels if cases.wants(labels[case])]
        cases.expected += len(wanted)
        try:
            module = _load(file)
        except BaseException as error:
            reason = (SKIPPED, str(error)) if isinstance(error, unittest.SkipTest) else None
            lacking = cases.lacks(error)
            if lacking is not None:
                reason = (UNSUPPORTED, lacking)
            if reason is None:
                if cases.every:
                    cases.expected -= len(wanted)
                    cases.broken[os.path.realpath(file["path"])] = describe(error)
                    continue
                cases.problem = f"{name} cannot be imported: {describe(error)}"
                return
            for chosen in wanted:
                cases.add(labels[chosen], *reason)
            continue
        if not cases.begin(cases.candidate) or _run_all(
            module, {labels[case]: case for case in wanted}, cases
        ):
            return


def _load(file: dict[str, Any]) -> ModuleType:
    if file.get("examples"):
        raise unittest.SkipTest(f"{_NEEDS_PYTEST}, for the project's settings of doctests")
    return importlib.import_module(file["module"])


def _run_all(module: ModuleType, wanted: dict[str, tuple[str, str]], cases: Cases) -> bool:
    """Run cases of a module, by their labels; return whether no further case is to run."""
    for label, (owner, case) in wanted.items():
        cases.announce(label)
        before = cases.tampering.take()
        outcome, message = run_case(module, owner, case)
        cases.tampering.compare(before)
        cases.add(label, outcome, message)
        if cases.over:
            return True
    return False


def run_case(module: ModuleType, owner: str, name: str) -> tuple[str, str]:
    """The outcome of one case (a function, or a method of a class), with the reason."""
    holder: Any = getattr(module, owner) if owner else module
    if owner and issubclass(holder, unittest.TestCase):
        return _run_method(holder(name), name)
    try:
        test = getattr(holder() if owner else holder, name)
        needed = list(inspect.signature(test).parameters)
        if needed:
            return UNSUPPORTED, f"{_NEEDS_PYTEST}, for the fixture {needed[0]}"
        if inspect.iscoroutinefunction(test):
            return UNSUPPORTED, "it is asynchronous, which needs pytest and a plugin"
        test()
    except unittest.SkipTest as error:
        return SKIPPED, str(error)
    except BaseException as error:
        return FAILED, _where(error) + describe(error)
    return PASSED, ""


def _run_method(case: unittest.TestCase, name: str) -> tuple[str, str]:
    awaits = isinstance(case, unittest.IsolatedAsyncioTestCase)
    if inspect.iscoroutinefunction(getattr(case, name)) and not awaits:
        return UNSUPPORTED, "it is asynchronous, and unittest does not await it"
    result = unittest.TestResult()
    try:
        unittest.TestSuite([case]).run(result)
    except BaseException as error:  # unittest lets KeyboardInterrupt through
        return FAILED, _where(error) + describe(error)
    troubles = result.failures + result.errors
    if troubles:
        return FAILED, _last_lines(troubles[0][1])
    if result.skipped:
        return SKIPPED, result.skipped[0][1]
    if result.expectedFailures or result.unexpectedSuccesses:
        return SKIPPED, "it is marked as an expected failure"
    return (PASSED, "") if result.testsRun == 1 else (FAILED, "it was not run")


def _last_lines(text: str) -> str:
    """The end of a traceback without its frames: from the first line that is not indented."""
    lines = text.strip().splitlines()
    start = next((at for at in range(len(lines) - 1, 0, -1) if lines[at].startswith("  File ")), 0)
    return "\n".join(line for line in lines[start + 1 :] if line.strip())


def _where(error: BaseException) -> str:
    """The line of the test that was running."""
    frames = traceback.extract_tb(error.__traceback__)
    if len(frames) < 2:  # the first one is ours
        return ""
    return f"{frames[1].filename.rpartition(os.sep)[2]}:{frames[1].lineno}: {frames[1].line}\n"
