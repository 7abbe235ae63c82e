"""Runs a file of tests in the namespace of the candidate: asserts, `check(candidate)`, cases, examples."""

from __future__ import annotations

import ast
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
        script: The tests' `source` and `path`, the `target` that is the argument of `check`, and whether only
            the `examples` in its docstrings are to run.
        cases: Collects the outcomes.
    """
    cases.watch(unittest.SkipTest)
    folder, name = os.path.split(script["path"])
    if folder not in sys.path:
        sys.path.insert(0, folder)
    cases.expected += 1
    module = types.ModuleType(name.partition(".")[0])
    cases.announce(name)
    try:
        space = vars(module)
        space.update(cases.candidate.namespace(cases.candidate.load()))
        space.update({"__name__": module.__name__, "__file__": script["path"], "candidate": None})
        lent = dict(space)
        exec(compile(script["source"], script["path"], "exec", dont_inherit=True), space)  # noqa: S102
    except BaseException as error:
        cases.add(*_failure(name, script, error))
        return
    cases.add(name, PASSED)
    todo = [] if script.get("examples") else _cases(module, lent, script["target"])
    todo += _examples(script, space)
    cases.expected += len(todo)
    for case, run in todo:
        label = f"{name}::{case}"
        cases.announce(label)
        before = cases.tampering.take()
        try:
            outcome, message = run()
        except BaseException as error:
            _, outcome, message = _failure(label, script, error)
        cases.tampering.compare(before)
        cases.add(label, outcome, message)
        if outcome == FAILED:
            return


def _cases(module: Any, lent: dict[str, Any], target: str) -> list[tuple[str, Callable[[], tuple[str, str]]]]:
    found: list[tuple[str, Callable[[], tuple[str, str]]]] = []
    for name, value in list(vars(module).items()):
        if name == "check" and inspect.isfunction(value):
            found.append((name, lambda value=value: _checked(value, vars(module), target)))  # type: ignore[misc]
        elif name.startswith("test") and inspect.isfunction(value):
            found.append((name, lambda name=name: run_case(module, "", name)))  # type: ignore[misc]
        elif isinstance(value, type) and issubclass(value, unittest.TestCase) and lent.get(name) is not value:
            methods = unittest.defaultTestLoader.getTestCaseNames(value)
            found += [
                (f"{name}::{method}", lambda name=name, method=method: run_case(module, name, method))  # type: ignore[misc]
                for method in methods
            ]
    return found


def _examples(
    script: dict[str, Any], space: dict[str, Any]
) -> list[tuple[str, Callable[[], tuple[str, str]]]]:
    """The examples in the docstrings of the tests themselves."""
    if ">>>" not in script["source"]:
        return []
    import doctest

    def run(example: doctest.DocTest) -> tuple[str, str]:
        said: list[str] = []
        failed = doctest.DocTestRunner(verbose=False).run(example, out=said.append).failed
        return (FAILED, "".join(said).strip("*\n ")) if failed else (PASSED, "")

    found: list[tuple[str, Callable[[], tuple[str, str]]]] = []
    for node in ast.walk(ast.parse(script["source"])):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        label = f"doctest of {getattr(node, 'name', 'the module')}"
        line = getattr(node, "lineno", 1) - 1
        text = ast.get_docstring(node, clean=False) or ""
        try:
            example = doctest.DocTestParser().get_doctest(text, dict(space), label, script["path"], line)
        except ValueError:  # malformed examples, which doctest itself would reject
            continue
        if example.examples:
            found.append((label, lambda example=example: run(example)))  # type: ignore[misc]
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
    """The failure of a case: the innermost line of the tests that was running, and the error."""
    step, line = error.__traceback__, 0
    while step is not None:
        if step.tb_frame.f_code.co_filename == script["path"]:
            line = step.tb_lineno
        step = step.tb_next
    lines = script["source"].splitlines()
    where = f"line {line}: {lines[line - 1].strip()}\n" if 0 < line <= len(lines) else ""
    return label, FAILED, where + describe(error)
