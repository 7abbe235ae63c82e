"""Runs a project's tests and reports, one by one, their outcomes and lines.

The report grows while the tests run, line by line, so that nothing is lost if one of them ends the process:

| line | meaning |
|---|---|
| `import file` | a test file is about to be imported |
| `broken [file, reason]` | a test file cannot be imported |
| `total N` | N tests were collected |
| `start [number, test]` | a test begins |
| `end [number, outcome, processor seconds, reason]` | a test ended |
| `lines {"of": [numbers], "files": {file: [[line, [numbers]]]}}` | lines of the tests ended since the last |
| `done true` | no test is left; `false` if time ran out |
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import json
import os
import sys
import types
import unittest

from ..imported_ahead import forget_hidden
from ..job import send, take_task
from ..runner.unittest_cases import run_case
from .line_probes import LineProbes
from .survey import FAILED, REASON, SKIPPED, SuiteSurvey, reason_of

try:
    from .watcher import run_pytest
except ImportError:  # the interpreter has no pytest
    run_pytest = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    from .survey import Test


def main() -> None:
    """Read the task, run the tests, report and exit."""
    task, descriptor = take_task()

    def emit(word: str, value: Any) -> None:
        send(descriptor, f"{word} {json.dumps(value)}")

    try:
        run_tests(task, emit)
    except BaseException as error:
        emit("why", f"{type(error).__name__}: {error}"[:REASON])
    os._exit(0)


def run_tests(task: dict[str, Any], emit: Callable[[str, Any], None]) -> None:
    """Run the tests; see the module for the report.

    Args:
        task: `files`, each with its `path`, `module` and `root`; `examples`, modules whose docstrings may
            have examples, each with its `path` and `module`; `roots`, the folders to import from, and
            `beside`, the folders of the tests, which come last; `omitted`, files whose lines do not count;
            `folder`; `done`, tests with known results; `excluded`, patterns of tests that do not run;
            `seconds`.
        emit: Receives the first word of a line and its content.
    """
    sys.path[:0] = task["roots"]
    forget_hidden(task["roots"])
    sys.path += task["beside"]
    os.chdir(task["folder"])
    probes = LineProbes(task["folder"], task["omitted"])
    probes.install()
    survey = SuiteSurvey(emit, probes, task["done"], task["seconds"], task["excluded"], task["folder"])
    sys.stdout = io.StringIO()
    if task["files"] and run_pytest is not None:
        run_pytest(task["files"], survey)
    else:
        _run_unittests(task["files"], survey)
    _run_doctests(task["examples"], survey)
    survey.flush()
    emit("done", not survey.cut)


def _run_doctests(examples: list[dict[str, Any]], survey: SuiteSurvey) -> None:
    for file in examples:
        loaded, doctests = None, []
        with contextlib.suppress(BaseException):
            loaded = importlib.import_module(file["module"])
            doctests = doctest.DocTestFinder(exclude_empty=True).find(loaded)
        if loaded is None or os.path.realpath(loaded.__file__ or "") != file["path"]:
            continue
        for case in doctests:
            name = case.name[len(file["module"]) + 1 :]
            test = ("doctest", file["path"], "", name, name)
            if case.examples and survey.wants(test) and not survey.over():
                with survey.of(test) as outcome, _catch(outcome):
                    failed = doctest.DocTestRunner(verbose=False).run(case, out=lambda _text: None).failed
                    if failed:
                        outcome[:] = [FAILED, f"{failed} of its examples fail"]


@contextlib.contextmanager
def _catch(outcome: list[str]) -> Generator[None, None, None]:
    try:
        yield
    except unittest.SkipTest as error:
        outcome[:] = [SKIPPED, str(error)]
    except BaseException as error:
        outcome[:] = [FAILED, reason_of(error)]


def _run_unittests(files: list[dict[str, Any]], survey: SuiteSurvey) -> None:
    cases: list[tuple[Any, Test]] = []
    for file in files:
        for folder in (file["root"], os.path.dirname(file["path"])):  # noqa: PTH120
            if folder not in sys.path:
                sys.path.insert(0, folder)
        survey.importing(file["path"])
        try:
            module = importlib.import_module(file["module"])
        except BaseException as error:
            survey.broken(file["path"], reason_of(error))
        else:
            cases += [
                (module, ("case", file["path"], owner, name, "::".join(filter(None, (owner, name)))))
                for owner, name in _cases_in(module)
            ]
    survey.total(len(cases))
    for module, test in cases:
        if survey.wants(test) and not survey.over():
            with survey.of(test) as outcome:
                outcome[:] = run_case(module, test[2], test[3])[:2]


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
