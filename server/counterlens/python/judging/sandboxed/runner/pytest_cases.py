"""Runs the chosen cases with pytest and the user's configuration, up to the first failure."""

from __future__ import annotations

import builtins
import inspect
import os
import unittest

import pytest
from _pytest._code import TracebackEntry

from ..pytest_start import start_pytest
from .candidate import lent_names
from .cases import FAILED, PASSED, SKIPPED, UNSUPPORTED, Cases
from .failures import (
    as_text,
    comparing_frame,
    describe,
    detail_of,
    place_in,
    places_of,
    raising_frame,
    shorten,
)

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from .candidate import Candidate

_ARGUMENTS = ("--tb=line", "--continue-on-collection-errors")
_NO_ASYNC = "async def functions are not natively supported"


def run_pytest(files: list[dict[str, Any]], cases: Cases) -> None:
    """Fill in `cases`.

    Args:
        files: For each its `path`; if not all that pytest collects is wanted, its `cases` as pairs of class
            name (or empty) and function name, and if only some parameters of these, their pytest ids after
            the file as `items`; whether it is `lent` the candidate's names, and whether its cases are
            functions with `examples`.
        cases: Collects the outcomes.
    """
    cases.watch(unittest.SkipTest)
    cases.watch(pytest.skip.Exception)
    chosen = {os.path.realpath(file["path"]): file for file in files}
    plugin = Chooser(chosen, cases)
    _lend_names({os.path.realpath(file["path"]) for file in files if file.get("lent")}, cases.candidate)
    paths = [file["path"] for file in files]
    arguments = [*_ARGUMENTS]
    if any(file.get("examples") for file in files):
        _load_as_it_is(cases.candidate)
        arguments += [
            "--doctest-modules",
            "--rootdir=.",
            "--confcutdir=.",
        ]  # settings may be above the project
    code = start_pytest(paths, [plugin], lambda: plugin.collected, *arguments)
    if code == 1 and not any(outcome in (FAILED, UNSUPPORTED) for _, outcome, _ in cases.results):
        cases.problem = cases.problem or "pytest counts a failure that is not in the report"
    if cases.problem is None and code not in (0, 1, 5):
        reason = f"pytest was interrupted or could not start (exit code {code})"
        if plugin.uncollected:  # pytest itself says only that it found no collectors for the files in it
            reason = f"pytest cannot collect the folder {plugin.uncollected}"
        elif plugin.stopped:
            reason = f"pytest could not start: {plugin.stopped}"
        if _imports(cases.candidate):
            cases.unstarted = reason
        else:
            cases.problem = reason


def _imports(candidate: Candidate) -> bool:
    """Whether the program can be imported: if not, it may be the reason why pytest does not start."""
    try:
        candidate.load()
    except BaseException:
        return False
    return True


def _load_as_it_is(candidate: Candidate) -> None:
    """Keep pytest from taking the candidate's file for tests, whose assertions it would load rewritten."""
    from _pytest.assertion.rewrite import AssertionRewritingHook as Loader

    find_spec: Any = Loader.find_spec

    def find_spec_of_others(this: Any, name: str, *more: Any) -> Any:
        spec = find_spec(this, name, *more)
        return None if spec is not None and candidate.is_at(spec.origin or "") else spec

    setattr(Loader, "find_spec", find_spec_of_others)  # noqa: B010


def _lend_names(paths: set[str], candidate: Candidate) -> None:
    """Let test files use the candidate's names without importing them."""
    if not paths:
        return
    from _pytest.assertion.rewrite import AssertionRewritingHook as Loader

    execute: Any = Loader.exec_module

    def exec_module(this: Any, module: Any) -> None:
        if os.path.realpath(module.__spec__.origin) in paths:
            vars(module).update(lent_names(candidate))
        execute(this, module)

    setattr(Loader, "exec_module", exec_module)  # noqa: B010


class Chooser:
    """A plug-in that keeps the chosen cases and records their outcomes.

    Attributes:
        collected: Whether pytest has collected tests.
        uncollected: A folder that pytest cannot collect, and why; empty if there is none.
        stopped: The exception that ended pytest itself; empty if there was none.
    """

    def __init__(self, chosen: dict[str, dict[str, Any]], cases: Cases) -> None:
        self._chosen, self._cases = chosen, cases
        self._outcome, self._message = PASSED, ""
        self._detail: dict[str, Any] = {}
        self._compared: Any = (None, None)
        self._real: dict[str, str] = {}
        self.collected = False
        self.uncollected = self.stopped = ""

    def pytest_internalerror(self, excinfo: Any) -> None:
        """Record why pytest ends, such as a warning about its settings that they make an error."""
        self.stopped = describe(excinfo.value)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, collector: Any, name: str, obj: object) -> list[Any] | None:
        """Leave out test functions that are not chosen: an item for each of their parameters takes long."""
        wanted = self._chosen.get(self._real_path(str(collector.path)), {})
        case_names = {case for _, case in wanted.get("cases", ())}
        is_function = not isinstance(obj, type) and collector.funcnamefilter(name)
        return [] if case_names and name not in case_names and is_function else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Keep the chosen cases."""
        self.collected = True
        kept = [item for item in items if self._wants(item) and self._cases.wants(item.nodeid)]
        self._cases.expected += len(kept)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, None]:
        """Record a test file that cannot be imported."""
        report = (yield).get_result()
        if not report.failed or self._cases.problem is not None:
            return
        error = report.call.excinfo.value if report.call.excinfo is not None else None
        cause = getattr(error, "__cause__", None) or error  # pytest's own error has it as its cause
        self.collected = True
        what = shorten(str(report.longrepr).strip()) if cause is None else describe(cause)
        if os.path.isdir(collector.path):  # noqa: PTH112
            self.uncollected = f"{collector.path.name}: {what}"
        chosen = self._chosen.get(os.path.realpath(str(collector.path)), {}).get("cases", [])
        lacking = self._cases.lacks(cause)
        if lacking is not None and not self._cases.every:
            names = [f"{collector.nodeid}::{name}" for _, name in chosen] or [collector.nodeid]
            self._cases.expected += len(names)
            for name in names:
                self._cases.add(name, UNSUPPORTED, lacking)
            return
        if self._cases.every:
            self._cases.broken[os.path.realpath(str(collector.path))] = what
        else:
            self._cases.problem = f"{collector.name} cannot be imported: {what}"

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Generator[None, Any, None]:
        """Hook around one case: announce it, check for tampering, record the outcome."""
        self._cases.announce(item.nodeid)
        self._outcome, self._message, self._detail, self._compared = PASSED, "", {}, (None, None)
        before = self._cases.tampering.take()
        result = yield
        self._cases.tampering.compare(before)
        if result.excinfo is not None:
            error = result.excinfo[1]
            self._outcome, self._message = self._cases.blame(error, describe(error))
        elif self._outcome == PASSED and is_never_awaited(item):
            self._outcome, self._message = UNSUPPORTED, "it is asynchronous, and unittest does not await it"
        self._cases.add(item.nodeid, self._outcome, self._message, self._detail)
        if self._cases.over:
            item.session.shouldfail = "one failure is enough"

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, call: Any) -> Generator[None, Any, None]:
        """Record the outcome of set-up, call or tear-down of a case."""
        report = (yield).get_result()
        if hasattr(report, "wasxfail"):
            self._outcome, self._message = SKIPPED, "it is marked as an expected failure"
        if hasattr(report, "wasxfail") or report.outcome == PASSED or self._outcome == FAILED:
            return
        message, detail = self._explain(report, call)
        if _NO_ASYNC in message:
            self._outcome = UNSUPPORTED
            self._message = "it is asynchronous, and no pytest plugin here runs such tests"
        elif report.outcome == FAILED:
            error = call.excinfo.value if call.excinfo is not None else None
            self._outcome, self._message = self._cases.blame(error, message)
            self._detail = detail
            if report.when != "call" and not self._cases.involves_candidate(error):
                self._outcome = UNSUPPORTED  # pytest's "error", which says nothing about the candidate
        else:
            self._outcome, self._message = report.outcome, message

    def _wants(self, item: Any) -> bool:
        function = getattr(item, "originalname", None) or item.name.partition("[")[0]
        owner = getattr(item, "cls", None)
        owners = {each.__name__ for each in owner.__mro__} if owner else {""}
        wanted = self._chosen.get(self._real_path(str(item.fspath)), {"cases": []})
        if wanted.get("lent") and getattr(item.obj, "__module__", "") == self._cases.candidate.module:
            return False
        if "cases" not in wanted:
            return True
        if wanted.get("examples"):
            examples = getattr(item, "dtest", None)
            names = [name for _, name in wanted["cases"]]
            return examples is not None and examples.name in {
                f"{examples.globs['__name__']}.{n}" for n in names
            }
        if "items" in wanted and item.nodeid.partition("::")[2] not in wanted["items"]:
            return False
        return any(name == function and of in owners for of, name in wanted["cases"])

    def _real_path(self, path: str) -> str:
        if path not in self._real:
            self._real[path] = os.path.realpath(path)
        return self._real[path]

    @pytest.hookimpl(tryfirst=True)
    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> None:
        """Note the values of an assertion that fails, unless the test catches that."""
        self._compared = (comparing_frame(), (op, as_text(left), as_text(right)))

    def _explain(self, report: Any, call: Any) -> tuple[str, dict[str, Any]]:
        """The place in the test, the statement there, the message, and where the candidate raised it.

        Beside these as text, in the form of `FailureDetail`.
        """
        if isinstance(report.longrepr, tuple):
            return str(report.longrepr[2]), {}
        error = call.excinfo.value if call.excinfo is not None else None
        crash = getattr(report.longrepr, "reprcrash", None)
        is_candidate = self._cases.candidate.is_at
        test, program = places_of(error, lambda file: self._real_path(file) in self._chosen, is_candidate)
        line, at = (step.tb_lineno if step is not None else 0 for step in (test, program))
        statement = str(TracebackEntry(test).statement).strip() if test is not None else ""
        where, compared = self._compared
        values = compared if isinstance(error, AssertionError) and where == raising_frame(error) else None
        detail = detail_of(error, is_candidate, line=line, statement=statement, at=at, compared=values)
        if error is not None and detail.get("operator") == "example":
            return describe(error), detail
        if crash is None:
            return shorten(str(report.longrepr)), detail
        name, number = (
            (crash.path, crash.lineno) if test is None else (test.tb_frame.f_code.co_filename, line)
        )
        place = f"{name.rpartition(os.sep)[2]}:{number}: " + (f"{statement}\n" if test is not None else "")
        raised = f"\nat {place_in(program)}" if program is not None else ""
        return f"{place}{crash.message}{raised}", detail


def is_never_awaited(item: Any) -> bool:
    """Whether a test is asynchronous, but run by unittest in a way that never awaits it."""
    owner: Any = getattr(item, "cls", None)
    if owner is None or not issubclass(owner, unittest.TestCase):
        return False
    if issubclass(owner, unittest.IsolatedAsyncioTestCase):
        return False
    return inspect.iscoroutinefunction(getattr(owner, item.name, None))
