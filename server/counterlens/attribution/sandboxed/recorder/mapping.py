"""Runs a project's tests once and notes which lines each of them runs, with coverage.py's contexts."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import importlib.util
import io
import json
import os
import sys
import time
import types
import unittest

from ..job import send, take_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

_ARGUMENTS = ("-q", "--color=no", "--tb=no", "-p", "no:cacheprovider", "-o", "addopts=")


class Contexts:
    """Which test is running.

    Attributes:
        tests: All that ran: kind, file, class, name.
        out_of_time: Whether tests were left out.
    """

    def __init__(self, switch: Callable[[str], Any], seconds: float) -> None:
        self._switch, self._until = switch, time.monotonic() + seconds
        self.tests: list[tuple[str, str, str, str]] = []
        self.out_of_time = False

    def over(self) -> bool:
        """Whether there is no time for another test."""
        self.out_of_time = self.out_of_time or time.monotonic() > self._until
        return self.out_of_time

    def enter(self, kind: str, file: str, owner: str, name: str) -> None:
        """A test starts; parametrised ones are one."""
        test = (kind, os.path.realpath(file), owner, name)
        if test not in self.tests:
            self.tests.append(test)
        self._switch(str(self.tests.index(test)))

    def leave(self) -> None:
        """It ended."""
        self._switch("")

    @contextlib.contextmanager
    def of(self, *test: str) -> Generator[None, None, None]:
        """Around one test, whatever comes of it."""
        self.enter(*test)
        with contextlib.suppress(BaseException):
            yield
        self.leave()


def main() -> None:
    """Read the task, run the tests, report and leave."""
    task, descriptor = take_task()
    lent = os.path.abspath("lent")  # noqa: PTH100
    try:
        report = run_tests(task, lent)
    except BaseException as error:
        report = {"why": f"{type(error).__name__}: {error}"[:500]}
    send(descriptor, json.dumps(report))
    os._exit(0)


def run_tests(task: dict[str, Any], lent: str) -> dict[str, Any]:
    """The report: `tests`, `lines` by file as lists of line and test numbers; or `why` not.

    Args:
        task: `files`, each with its `path`, `module` and `root`; `module` and `roots` of the source file;
            `measured`, patterns of the files that are of interest; `folder`, `seconds`.
        lent: A folder with coverage.py, for an interpreter that does not have it.
    """
    for folder in reversed(task["roots"]):
        sys.path.insert(0, folder)
    if importlib.util.find_spec("coverage") is None:
        sys.path.append(lent)
    import coverage

    os.chdir(task["folder"])
    measuring = coverage.Coverage(data_file=None, config_file=False, include=task["measured"])
    measuring.start()
    contexts = Contexts(measuring.switch_context, task["seconds"])
    sys.stdout = io.StringIO()
    _run_doctests(task["module"], contexts)
    if importlib.util.find_spec("pytest"):
        import pytest

        files = [file["path"] for file in task["files"]]
        pytest.main([*_ARGUMENTS, "--continue-on-collection-errors", *files], plugins=[_plugin(contexts)])
    else:
        _run_unittests(task["files"], contexts)
    measuring.stop()
    data = measuring.get_data()
    lines = {}
    for path in data.measured_files():
        by_line = data.contexts_by_lineno(path)
        found = [[line, [int(number) for number in ran if number]] for line, ran in sorted(by_line.items())]
        lines[path] = [[line, ran] for line, ran in found if ran]
    return {"tests": contexts.tests, "lines": lines, "partial": contexts.out_of_time}


def _plugin(contexts: Contexts) -> Any:
    import pytest

    class Plugin:
        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_protocol(self, item: Any) -> Generator[None, None, None]:
            owner = getattr(item, "cls", None)
            name = getattr(item, "originalname", None) or item.name.partition("[")[0]
            if contexts.over():
                item.session.shouldstop = "no time is left"
            contexts.enter("case", str(item.fspath), owner.__name__ if owner else "", name)
            yield
            contexts.leave()

    return Plugin()


def _run_doctests(module: str, contexts: Contexts) -> None:
    try:
        loaded = importlib.import_module(module)
        found = doctest.DocTestFinder().find(loaded)
    except BaseException:
        return
    for test in found:
        if test.examples and not contexts.over():
            name = test.name[len(module) + 1 :]
            with contexts.of("doctest", loaded.__file__ or "", "", name):
                doctest.DocTestRunner(verbose=False).run(test, out=lambda _text: None)


def _run_unittests(files: list[dict[str, Any]], contexts: Contexts) -> None:
    for file in files:
        for folder in (file["root"], os.path.dirname(file["path"])):  # noqa: PTH120
            if folder not in sys.path:
                sys.path.insert(0, folder)
        module = None
        with contextlib.suppress(BaseException):
            module = importlib.import_module(file["module"])
        if module is not None:
            _run_module(module, file["path"], contexts)


def _run_module(module: Any, path: str, contexts: Contexts) -> None:
    for case in _flat(unittest.defaultTestLoader.loadTestsFromModule(module)):
        if not contexts.over():
            with contexts.of("case", path, type(case).__name__, case._testMethodName):
                case.run(unittest.TestResult())
    for name, test in list(vars(module).items()):
        if name.startswith("test") and isinstance(test, types.FunctionType) and not contexts.over():
            with contexts.of("case", path, "", name):
                test()


def _flat(suite: Any) -> list[Any]:
    if isinstance(suite, unittest.TestCase):
        return [suite]
    return [case for inner in suite for case in _flat(inner)]
