"""Runs the chosen cases if pytest is not installed: `unittest` cases and plain functions."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import inspect
import os
import sys
import unittest

from .candidate import lent_names
from .cases import FAILED, PASSED, SKIPPED, UNSUPPORTED, Cases
from .failures import describe, detail_of, place_in, places_of

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from .candidate import Candidate

_NEEDS_PYTEST = "it needs pytest, which this interpreter does not have"


def run_unittest(files: list[dict[str, Any]], cases: Cases) -> None:
    """Fill in `cases`, up to the first failure; a case that needs pytest is recorded as unsupported.

    Args:
        files: For each its `path`, `module`, the `root` that makes it importable, whether it is `lent` the
            candidate's names, and, if not all cases are wanted, its `cases` as pairs of class name (or empty)
            and function name.
        cases: Collects the outcomes.
    """
    cases.watch(unittest.SkipTest)
    for file in files:
        name = file["path"].rpartition(os.sep)[2]
        for folder in (file["root"], file["path"].rpartition(os.sep)[0]):
            if folder not in sys.path:
                sys.path.insert(0, folder)
        chosen = [(owner, case) for owner, case in file.get("cases", ())]
        try:
            module = _load(file, cases.candidate)
        except BaseException as error:
            reason = (SKIPPED, str(error)) if isinstance(error, unittest.SkipTest) else None
            lacking = cases.lacks(error)
            if lacking is not None:
                reason = (UNSUPPORTED, lacking)
            if reason is None:
                if cases.every:
                    cases.broken[os.path.realpath(file["path"])] = describe(error)
                    continue
                cases.problem = f"{name} cannot be imported: {describe(error)}"
                return
            wanted = _label(name, chosen, cases) or {name: ("", "")}
            cases.expected += len(wanted)
            for label in wanted:
                cases.add(label, *reason)
            continue
        wanted = _label(name, chosen if "cases" in file else _cases_of(module, cases.candidate), cases)
        cases.expected += len(wanted)
        if _run_all(module, wanted, cases):
            return


def _label(file: str, chosen: list[tuple[str, str]], cases: Cases) -> dict[str, tuple[str, str]]:
    """The cases that are not left out, by their names."""
    labels = {"::".join(filter(None, (file, *case))): case for case in chosen}
    return {label: case for label, case in labels.items() if cases.wants(label)}


def _load(file: dict[str, Any], candidate: Candidate) -> ModuleType:
    if file.get("examples"):
        raise unittest.SkipTest(f"{_NEEDS_PYTEST}, for the project's settings of doctests")
    if not file.get("lent"):
        return importlib.import_module(file["module"])
    spec: Any = importlib.util.spec_from_file_location(file["module"], file["path"])
    module = importlib.util.module_from_spec(spec)
    vars(module).update(lent_names(candidate))
    sys.modules[file["module"]] = module
    spec.loader.exec_module(module)
    return module


def _cases_of(module: ModuleType, candidate: Candidate) -> list[tuple[str, str]]:
    """All cases of a test file, in its order; what it is lent by the candidate is none."""
    cases: list[tuple[str, str]] = []
    for name, value in list(vars(module).items()):
        if getattr(value, "__module__", None) == candidate.module:
            continue
        if name.startswith("test") and inspect.isfunction(value):
            cases.append(("", name))
        elif isinstance(value, type) and issubclass(value, unittest.TestCase):
            cases += [(name, method) for method in unittest.defaultTestLoader.getTestCaseNames(value)]
        elif isinstance(value, type) and name.startswith("Test"):
            methods = [method for method in dir(value) if method.startswith("test")]
            cases += [(name, method) for method in methods if callable(getattr(value, method))]
    return cases


def _run_all(module: ModuleType, wanted: dict[str, tuple[str, str]], cases: Cases) -> bool:
    """Run cases of a module, by their labels; return whether no further case is to run."""
    for label, (owner, case) in wanted.items():
        cases.announce(label)
        before = cases.tampering.take()
        outcome, message, error = run_case(module, owner, case)
        cases.tampering.compare(before)
        detail = None
        if error is not None:
            message, detail = _explain(error, module.__file__ or "", cases.candidate)
        cases.add(label, outcome, message, detail)
        if cases.over:
            return True
    return False


def run_case(module: ModuleType, owner: str, name: str) -> tuple[str, str, BaseException | None]:
    """The outcome of a function, or a method of a class, with the reason, and the error of a failure."""
    holder: Any = getattr(module, owner) if owner else module
    if owner and issubclass(holder, unittest.TestCase):
        return _run_method(holder(name), name)
    try:
        test = getattr(holder() if owner else holder, name)
        needed = list(inspect.signature(test).parameters)
        if needed:
            return UNSUPPORTED, f"{_NEEDS_PYTEST}, for the fixture {needed[0]}", None
        if inspect.iscoroutinefunction(test):
            return UNSUPPORTED, "it is asynchronous, which needs pytest and a plugin", None
        test()
    except unittest.SkipTest as error:
        return SKIPPED, str(error), None
    except BaseException as error:
        return FAILED, describe(error), error
    return PASSED, "", None


class _Result(unittest.TestResult):
    """The result of a method, with the error that it raised, whose traceback unittest would cut."""

    raised: BaseException | None = None

    def _exc_info_to_string(self, err: Any, _test: Any) -> str:
        self.raised = self.raised or err[1]
        return ""


def _run_method(case: unittest.TestCase, name: str) -> tuple[str, str, BaseException | None]:
    awaits = isinstance(case, unittest.IsolatedAsyncioTestCase)
    if inspect.iscoroutinefunction(getattr(case, name)) and not awaits:
        return UNSUPPORTED, "it is asynchronous, and unittest does not await it", None
    result = _Result()
    try:
        unittest.TestSuite([case]).run(result)
    except BaseException as error:  # unittest lets KeyboardInterrupt through
        return FAILED, describe(error), error
    if result.failures or result.errors:
        assert result.raised is not None
        return FAILED, describe(result.raised), result.raised
    if result.skipped:
        return SKIPPED, result.skipped[0][1], None
    if result.expectedFailures or result.unexpectedSuccesses:
        return SKIPPED, "it is marked as an expected failure", None
    return (PASSED, "", None) if result.testsRun == 1 else (FAILED, "it was not run", None)


def _explain(error: BaseException, file: str, candidate: Candidate) -> tuple[str, dict[str, Any]]:
    """The place in a test, the message, and where the candidate raised it; and these as `detail_of`."""
    real = os.path.realpath(file)
    test, program = places_of(error, lambda other: os.path.realpath(other) == real, candidate.is_at)
    line, at = (step.tb_lineno if step is not None else 0 for step in (test, program))
    place = place_in(test) if test is not None else ""
    statement = place.partition(f":{line}: ")[2]
    parts = (place, describe(error), f"at {place_in(program)}" if program is not None else "")
    detail = detail_of(error, candidate.is_at, line=line, statement=statement, at=at)
    return "\n".join(filter(None, parts)), detail
