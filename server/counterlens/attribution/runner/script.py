"""Runs a file of tests in the namespace of the candidate: plain asserts, `check(candidate)`, cases."""

from __future__ import annotations

import builtins
import inspect
import os
import sys
import types
import unittest

from .cases import FAILED, PASSED, Cases
from .unittest_cases import run_case
from .wording import describe

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def run_script(script: dict[str, Any], cases: Cases) -> None:
    """Fill in `cases`, up to the first failure.

    Args:
        script: The tests' `source` and `path`, and the `target` that `check` is called with.
        cases: Takes the outcomes.
    """
    cases.watch(unittest.SkipTest)
    folder, name = os.path.split(script["path"])
    if folder not in sys.path:
        sys.path.insert(0, folder)
    cases.expected = 1
    module = types.ModuleType(name.partition(".")[0])
    cases.announce(name)
    try:
        space = vars(module)
        space.update(cases.candidate.namespace(cases.candidate.load()))
        space.update({"__name__": module.__name__, "__file__": script["path"], "candidate": None})
        own = set(space)
        exec(compile(script["source"], script["path"], "exec", dont_inherit=True), space)  # noqa: S102
    except BaseException as error:
        cases.add(*_failure(name, script, error))
        return
    cases.add(name, PASSED)
    todo = [(case, run) for case, run in _cases(module, own, script["target"])]
    cases.expected += len(todo)
    for case, run in todo:
        label = f"{name}::{case}"
        cases.announce(label)
        before = cases.seals.take()
        try:
            outcome, message = run()
        except BaseException as error:
            _, outcome, message = _failure(label, script, error)
        cases.seals.compare(before)
        cases.add(label, outcome, message)
        if outcome == FAILED:
            return


def _cases(module: Any, own: set[str], target: str) -> list[tuple[str, Callable[[], tuple[str, str]]]]:
    found: list[tuple[str, Callable[[], tuple[str, str]]]] = []
    for name, value in list(vars(module).items()):
        if name == "check" and inspect.isfunction(value):
            found.append((name, lambda value=value: _checked(value, vars(module), target)))  # type: ignore[misc]
        elif name.startswith("test") and inspect.isfunction(value):
            found.append((name, lambda name=name: run_case(module, "", name)))  # type: ignore[misc]
        elif isinstance(value, type) and issubclass(value, unittest.TestCase) and name not in own:
            methods = unittest.defaultTestLoader.getTestCaseNames(value)
            found += [
                (f"{name}::{method}", lambda name=name, method=method: run_case(module, name, method))  # type: ignore[misc]
                for method in methods
            ]
    return found


def _checked(check: Any, space: dict[str, Any], target: str) -> tuple[str, str]:
    if target not in space:
        return (
            FAILED,
            f"the program does not define {target}" if target else "the program defines no function",
        )
    check(space[target])
    return PASSED, ""


def _failure(label: str, script: dict[str, Any], error: BaseException) -> tuple[str, str, str]:
    """The innermost line of the tests that was running, and what happened there."""
    step, line = error.__traceback__, 0
    while step is not None:
        if step.tb_frame.f_code.co_filename == script["path"]:
            line = step.tb_lineno
        step = step.tb_next
    lines = script["source"].splitlines()
    where = f"line {line}: {lines[line - 1].strip()}\n" if 0 < line <= len(lines) else ""
    return label, FAILED, where + describe(error)
