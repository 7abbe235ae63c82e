"""Runs tests without cases in the namespace of the candidate: asserts, `check(candidate)`, examples."""

from __future__ import annotations
import __future__

import ast
import builtins
import inspect
import os
import sys
import traceback
import types
import unittest

from ..job import Output
from .cases import FAILED, PASSED, Cases
from .failures import describe, shorten

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .candidate import Candidate


_SUPPLIED = "<tests>"
FUTURE = 0
"""The compiler flags of all `from __future__` imports."""


def run_supplied(tests: str, cases: Cases) -> None:
    """Fill in `cases` with one case: statements that run at the end of the candidate, in its namespace."""
    cases.watch(unittest.SkipTest)
    cases.expected += 1
    cases.announce("the tests")
    before = cases.tampering.take()
    try:
        module = cases.candidate.load()
        if "random" in tests:
            import random

            random.seed(0)  # the same for all programs
        exec(compile(tests, _SUPPLIED, "exec", dont_inherit=True), vars(module))  # noqa: S102
    except BaseException as error:
        line = _line_of(error, _SUPPLIED)
        cases.add(tests.splitlines()[line - 1].strip() if line else "the tests", FAILED, describe(error))
    else:
        cases.add("the tests", PASSED)
    cases.tampering.compare(before)


def run_script(script: dict[str, Any], cases: Cases) -> None:
    """Fill in `cases`, up to the first failure.

    Args:
        script: The tests' `source` and `path`, whether their `check` runs, and the `target`, its argument.
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
        loaded = cases.candidate.load()
        space.update(vars(loaded))
        space.update({"__name__": module.__name__, "__file__": script["path"], "candidate": None})
        exec(compile(script["source"], script["path"], "exec", dont_inherit=True), space)  # noqa: S102
    except BaseException as error:
        cases.add(*_failure(name, script, error))
        return
    cases.add(name, PASSED)
    todo = _examples(script, space)
    if script["check"] and inspect.isfunction(space.get("check")):
        todo.insert(0, ("check", lambda: _check(space, script["target"])))
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


def _examples(
    script: dict[str, Any], space: dict[str, Any]
) -> list[tuple[str, Callable[[], tuple[str, str]]]]:
    """The examples in the docstrings of the tests themselves."""
    if ">>>" not in script["source"]:
        return []
    import doctest

    def run(example: doctest.DocTest) -> tuple[str, str]:
        doctest.DebugRunner(verbose=False).run(example, clear_globs=False)
        return PASSED, ""

    examples: list[tuple[str, Callable[[], tuple[str, str]]]] = []
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
            examples.append((label, lambda example=example: run(example)))  # type: ignore[misc]
    return examples


def _check(space: dict[str, Any], target: str) -> tuple[str, str]:
    if target not in space:
        return (
            FAILED,
            f"the program does not define {target}" if target else "the program defines no function",
        )
    space["check"](space[target])
    return PASSED, ""


def _failure(label: str, script: dict[str, Any], error: BaseException) -> tuple[str, str, str]:
    """The failure of a case: the innermost line of the tests that was running, and the error."""
    line, lines = _line_of(error, script["path"]), script["source"].splitlines()
    where = f"line {line}: {lines[line - 1].strip()}\n" if 0 < line <= len(lines) else ""
    return label, FAILED, where + describe(error)


def _line_of(error: BaseException, path: str) -> int:
    """The innermost line of a file that was running when an exception was raised; 0 if none was."""
    step, line = error.__traceback__, 0
    while step is not None:
        if step.tb_frame.f_code.co_filename == path:
            line = step.tb_lineno
        step = step.tb_next
    return line


for _name in __future__.all_feature_names:
    FUTURE |= vars(__future__)[_name].compiler_flag


def run_examples(
    sources: Sequence[str], candidate: Candidate, case: Callable[[str, str], object]
) -> dict[str, Any]:
    """The report: for each example its output, and the exception that it raised, or None."""
    try:
        module = candidate.load()
    except BaseException as error:
        return {"kind": "import", "message": describe(error)}
    space = dict(vars(module))
    flags = candidate.code.co_flags & FUTURE
    display, normal = sys.__displayhook__, sys.stdout
    results = []
    for number, source in enumerate(sources):
        case("case", source.strip().partition("\n")[0])
        output, raised = Output(), None
        sys.stdout, sys.displayhook = output, display
        try:
            exec(compile(source, f"<example {number + 1}>", "single", flags, True), space)  # noqa: S102
        except BaseException as error:
            raised = shorten(traceback.format_exception_only(type(error), error)[-1])
        finally:
            sys.stdout = normal
        results.append((output.getvalue(), raised))
    return {"kind": "examples", "results": results}
