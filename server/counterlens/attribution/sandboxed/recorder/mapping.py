"""Runs a project's tests and tells, one by one, what became of each and which lines it ran.

The report grows while the tests run, a line each, so that nothing is lost when one of them ends the process:

    total N                     so many tests were collected
    start [number, test]        a test begins
    end [number, outcome, processor seconds, reason]
    lines {file: [[line, numbers of tests]]}    of all tests that ended since the line before of this kind
    done true                   nothing is left; false where there was no time for all
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import importlib.util
import io
import json
import os
import re
import sys
import time
import types
import unittest

from ..job import send, take_task
from ..runner.unittest_cases import run_case

try:
    from ..pytest_start import start_pytest
except ImportError:
    start_pytest = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from typing import Any

    Test = tuple[str, str, str, str, str]

_ARGUMENTS = ("--tb=no", "--continue-on-collection-errors")
_FLUSH = 1.0  # seconds between two looks at what was run, at least
_SHARE = 20  # times as long as the last look took
_REASON = 300  # characters
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


class Survey:
    """What is told about the tests.

    Args:
        tell: Takes a word and what is told.
        measuring: coverage.py, which runs.
        done: Tests that are known from an earlier run.
        seconds: No test begins later.

    Attributes:
        cut: Whether there was no time for all.
    """

    def __init__(
        self, tell: Callable[[str, Any], None], measuring: Any, done: Iterable[list[str]], seconds: float
    ) -> None:
        self._tell, self._measuring = tell, measuring
        self._done = {tuple(test) for test in done}
        self._seconds, self._next = seconds, 0
        self._until = time.monotonic() + seconds
        self._waiting: list[int] = []
        self._look = time.monotonic() + _FLUSH
        self.cut = False

    def total(self, number: int) -> None:
        """So many tests there are; the time counts from here."""
        self._tell("total", number)
        self._until = time.monotonic() + self._seconds

    def wants(self, test: Test) -> bool:
        """Whether a test is to be run."""
        return test not in self._done

    def over(self) -> bool:
        """Whether there is no time for another test."""
        self.cut = self.cut or time.monotonic() > self._until
        return self.cut

    @contextlib.contextmanager
    def of(self, test: Test) -> Generator[list[str], None, None]:
        """Around one test, which fills in its outcome and the reason."""
        number, self._next = self._next, self._next + 1
        self._tell("start", [number, test])
        outcome = [PASSED, ""]
        self._measuring.switch_context(str(number))
        began = time.process_time()
        try:
            yield outcome
        finally:
            spent = time.process_time() - began
            self._measuring.switch_context("")
            self._tell("end", [number, outcome[0], round(spent, 6), outcome[1][:_REASON]])
            self._waiting.append(number)
            if time.monotonic() > self._look:
                self.flush()

    def flush(self) -> None:
        """Tell which lines were run by the tests that have ended."""
        began = time.monotonic()
        data = self._measuring.get_data()
        if self._waiting:
            data.set_query_contexts([f"^(?:{'|'.join(map(str, self._waiting))})$"])
        lines: dict[str, list[Any]] = {}
        for path in data.measured_files() if self._waiting else ():
            found = [
                [line, [int(number) for number in ran if number]]
                for line, ran in sorted(data.contexts_by_lineno(path).items())
            ]
            lines[path] = [[line, ran] for line, ran in found if ran]
        data.set_query_contexts(None)
        self._tell("lines", {"files": lines, "of": self._waiting})
        self._waiting = []
        now = time.monotonic()
        self._look = now + max(_FLUSH, _SHARE * (now - began))


def main() -> None:
    """Read the task, run the tests, report and leave."""
    task, descriptor = take_task()
    lent = os.path.abspath("lent")  # noqa: PTH100

    def tell(word: str, value: Any) -> None:
        send(descriptor, f"{word} {json.dumps(value)}")

    try:
        run_tests(task, lent, tell)
    except BaseException as error:
        tell("why", f"{type(error).__name__}: {error}"[:_REASON])
    os._exit(0)


def run_tests(task: dict[str, Any], lent: str, tell: Callable[[str, Any], None]) -> None:
    """Run them; see the module for what is told.

    Args:
        task: `files`, each with its `path`, `module` and `root`; `examples`, modules whose docstrings have
            some, each with its `path` and `module`; `roots`, and folders `beside` the tests that come last; `measured` and `omitted`, patterns of files;
            `folder`; `done`, tests that are not to be run; `seconds`.
        lent: A folder with coverage.py, for an interpreter that does not have it.
        tell: Takes a word and what is told.
    """
    sys.path[:0] = task["roots"]
    sys.path += task["beside"]
    if importlib.util.find_spec("coverage") is None:
        sys.path.append(lent)
    import coverage

    os.chdir(task["folder"])
    measuring = coverage.Coverage(
        data_file=None, config_file=False, include=task["measured"], omit=task["omitted"]
    )
    measuring.start()
    survey = Survey(tell, measuring, task["done"], task["seconds"])
    sys.stdout = io.StringIO()
    if task["files"] and start_pytest is not None:
        _run_pytest(task["files"], survey)
    else:
        _run_unittests(task["files"], survey)
    _run_doctests(task["examples"], survey)
    survey.flush()
    tell("done", not survey.cut)


def _run_pytest(files: list[dict[str, Any]], survey: Survey) -> None:
    import pytest

    class Watcher:
        collected = False
        outcome: list[str] = [PASSED, ""]

        @pytest.hookimpl(trylast=True)
        def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
            self.collected = True
            survey.total(len(items))
            known = [item for item in items if not survey.wants(_test_of(item))]
            config.hook.pytest_deselected(items=known)
            items[:] = [item for item in items if item not in known]

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_protocol(self, item: Any) -> Generator[None, None, None]:
            if survey.over():
                item.session.shouldstop = "no time is left"
            with survey.of(_test_of(item)) as outcome:
                self.outcome = outcome
                yield

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_makereport(self, call: Any) -> Generator[None, Any, None]:
            report = (yield).get_result()
            if hasattr(report, "wasxfail") or report.outcome == SKIPPED:
                self.outcome[:] = [SKIPPED, _why(call) or "it is marked as expected to fail"]
            elif report.outcome == FAILED and self.outcome[0] != FAILED:
                self.outcome[:] = [FAILED, _why(call)]

    watcher = Watcher()
    code = start_pytest([file["path"] for file in files], [watcher], lambda: watcher.collected, *_ARGUMENTS)
    if not watcher.collected:
        raise RuntimeError(f"pytest did not start (exit code {code})")


def _test_of(item: Any) -> Test:
    owner = getattr(item, "cls", None)
    name = getattr(item, "originalname", None) or item.name.partition("[")[0]
    file = os.path.realpath(str(item.fspath))
    return "case", file, owner.__name__ if owner else "", name, item.nodeid.partition("::")[2]


def _why(call: Any) -> str:
    return _reason(call.excinfo.value) if call.excinfo is not None else ""


def _reason(error: BaseException) -> str:
    return re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")


def _run_doctests(examples: list[dict[str, Any]], survey: Survey) -> None:
    for file in examples:
        try:
            loaded = importlib.import_module(file["module"])
            found = doctest.DocTestFinder(exclude_empty=True).find(loaded)
        except BaseException:
            continue
        if os.path.realpath(loaded.__file__ or "") != file["path"]:
            continue
        for one in found:
            name = one.name[len(file["module"]) + 1 :]
            test = ("doctest", file["path"], "", name, name)
            if one.examples and survey.wants(test) and not survey.over():
                with survey.of(test) as outcome, _caught(outcome):
                    failed = doctest.DocTestRunner(verbose=False).run(one, out=lambda _text: None).failed
                    if failed:
                        outcome[:] = [FAILED, f"{failed} of its examples do not hold"]


@contextlib.contextmanager
def _caught(outcome: list[str]) -> Generator[None, None, None]:
    try:
        yield
    except unittest.SkipTest as error:
        outcome[:] = [SKIPPED, str(error)]
    except BaseException as error:
        outcome[:] = [FAILED, _reason(error)]


def _run_unittests(files: list[dict[str, Any]], survey: Survey) -> None:
    found: list[tuple[Any, Test]] = []
    for file in files:
        for folder in (file["root"], os.path.dirname(file["path"])):  # noqa: PTH120
            if folder not in sys.path:
                sys.path.insert(0, folder)
        with contextlib.suppress(BaseException):
            module = importlib.import_module(file["module"])
            found += [
                (module, ("case", file["path"], owner, name, "::".join(filter(None, (owner, name)))))
                for owner, name in _cases_in(module)
            ]
    survey.total(len(found))
    for module, test in found:
        if survey.wants(test) and not survey.over():
            with survey.of(test) as outcome:
                outcome[:] = run_case(module, test[2], test[3])


def _cases_in(module: Any) -> list[tuple[str, str]]:
    cases = [
        (type(case).__name__, case._testMethodName)
        for case in _flat(unittest.defaultTestLoader.loadTestsFromModule(module))
    ]
    plain = [
        ("", name)
        for name, test in vars(module).items()
        if name.startswith("test") and isinstance(test, types.FunctionType)
    ]
    return [*cases, *plain]


def _flat(suite: Any) -> list[Any]:
    if isinstance(suite, unittest.TestCase):
        return [suite]
    return [case for inner in suite for case in _flat(inner)]
