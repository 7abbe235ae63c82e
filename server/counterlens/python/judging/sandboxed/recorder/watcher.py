"""A pytest plug-in that reports the outcome of each test to a survey."""

from __future__ import annotations

import os

import pytest

from ..pytest_start import start_pytest
from ..runner.pytest_cases import is_never_awaited
from .survey import FAILED, PASSED, SKIPPED, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from .survey import SuiteSurvey, Test

_ARGUMENTS = ("--tb=no", "--continue-on-collection-errors")


def run_pytest(files: list[dict[str, Any]], survey: SuiteSurvey) -> None:
    """Run the tests of files, each with its `path`.

    Raises:
        RuntimeError: pytest ended before it ran tests.
    """
    watcher = Watcher(survey)
    paths = [file["path"] for file in files]
    code = start_pytest(paths, [watcher], lambda: watcher.collected, *_ARGUMENTS)
    if not watcher.collected:
        raise RuntimeError(f"pytest did not start (exit code {code})")


class Watcher:
    """The plug-in.

    Attributes:
        collected: Whether pytest has collected tests.
    """

    def __init__(self, survey: SuiteSurvey) -> None:
        self._survey = survey
        self._outcome = [PASSED, ""]
        self.collected = False

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, None]:
        """Hook around the import of a test file."""
        if isinstance(collector, pytest.Module):
            self._survey.importing(str(collector.path))
        report = (yield).get_result()
        if report.failed:
            error = report.call.excinfo.value if report.call.excinfo is not None else None
            error = getattr(error, "__cause__", None) or error  # pytest's own error has it as its cause
            self._survey.broken(str(collector.path), reason_of(error) if error else str(report.longrepr))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Leave out tests with known results, and excluded ones."""
        self.collected = True
        self._survey.total(len(items))
        unwanted = [item for item in items if not self._survey.wants(_test_of(item))]
        config.hook.pytest_deselected(items=unwanted)
        left_out = set(map(id, unwanted))
        items[:] = [item for item in items if id(item) not in left_out]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Generator[None, None, None]:
        """Hook around one test."""
        if self._survey.over():
            item.session.shouldstop = "the time limit was reached"
        with self._survey.of(_test_of(item)) as outcome:
            self._outcome = outcome
            yield
            if outcome[0] == PASSED and is_never_awaited(item):
                outcome[:] = [SKIPPED, "it is asynchronous, and unittest does not await it"]

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, call: Any) -> Generator[None, Any, None]:
        """Hook after set-up, call or tear-down of a test."""
        report = (yield).get_result()
        why = reason_of(call.excinfo.value) if call.excinfo is not None else ""
        if hasattr(report, "wasxfail"):
            self._outcome[:] = [SKIPPED, "it is marked as an expected failure"]
        elif report.outcome == SKIPPED:
            self._outcome[:] = [SKIPPED, why]
        elif report.outcome == FAILED and self._outcome[0] != FAILED:
            self._outcome[:] = [FAILED, why]


def _test_of(item: Any) -> Test:
    owner = getattr(item, "cls", None)
    name = getattr(item, "originalname", None) or item.name.partition("[")[0]
    file = os.path.realpath(str(item.fspath))
    return "case", file, owner.__name__ if owner else "", name, item.nodeid.partition("::")[2]
