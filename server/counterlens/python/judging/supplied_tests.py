"""Judging a Python program by what comes with it: a file of tests, tests as text, or the output for an input.

Tests as text call the function and assert, as in datasets: HumanEval's `check(candidate)`, MBPP's lines of
`assert` and CRUXEval's input and output. They run at the end of the program, in its namespace, as in these
datasets' own harnesses; but a program that ends before its tests has failed.
"""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import Any

from counterlens.errors import SourceError
from counterlens.judging.base import Evidence, Judge, Judgement, Setting, Verdict, brief
from counterlens.judging.comparison import ROOM, TOO_MUCH, OutputJudge, PrintingCase
from counterlens.judging.programs import read_program
from counterlens.python.judging.doctests import pytest_settings_for_examples
from counterlens.python.judging.layout import imported_place, layout_of
from counterlens.python.judging.test_run import RunningJudge, TestRun, in_lines
from counterlens.python.judging.unittests import ID as TESTS
from counterlens.python.judging.unittests import read_cases
from counterlens.python.syntax.parsing import parse_module
from counterlens.python.syntax.versions import parse_error
from counterlens.sandbox.base import Ending, Job

_SETTINGS = "pytest's settings for examples do not apply to those of {tests}: write them as assertions"
_Definition = ast.FunctionDef | ast.AsyncFunctionDef
ID = "given"
# A file, not a pipe: some programs query the length of their input.
_START = b"""\
import os, runpy, sys
os.dup2(os.open("input.txt", os.O_RDONLY), 0)
sys.argv[:] = ["main.py"]
runpy.run_path("main.py", run_name="__main__")
"""


class FileOfTestsJudge(Judge):
    """Judges programs by a file of tests.

    The tests import the program by its module's name, or use its names directly. They are plain asserts, a
    function `check(candidate)`, cases of pytest or unittest, examples in docstrings, or any combination.

    Args:
        path: The file of the program. It runs there, or in the place of the module that the tests import; see
            `imported_place`.
        tests: The file of tests.
        setting: Their sandbox and interpreter.
        function: The argument of `check`; by default the last function that the program defines.
        right: The text of a program that passes, whose calls are recorded.
        original: The file of the original, if there is one.

    Raises:
        SourceError: the tests cannot be read, or are not Python.
    """

    attribution, tests = TESTS, 0

    def __init__(
        self,
        path: Path,
        tests: Path,
        setting: Setting,
        function: str | None = None,
        right: str = "",
        original: Path | None = None,
    ) -> None:
        text = read_program(tests)
        if isinstance(text, Verdict):
            raise SourceError(f"{tests}: {text.evidence.message}")
        try:
            self._tree = parse_module(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            why = parse_error(text, error)
            hint = why.hint or "Give the tests as a Python file"
            raise SourceError(f"{tests}: {why.message}", hint) from None
        self._path, self._file, self._text, self._setting = path, tests, text, setting
        self._function, self._right, self._original = function, right, original

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Run the tests against a program; see `Judge.judge`.

        Raises:
            SandboxError: as `Sandbox.run`.
        """
        if not _can_fail(self._tree):
            reason = f"{self._file.name} has no assertion and no test case: nothing in it could fail"
            return Verdict(Judgement.REFUSED, Evidence(TESTS, 0, None, reason))
        test_run = self._test_run(program)
        verdict = test_run.run(program, read_cases, cancel)
        if verdict.judgement is Judgement.FAILED and "::doctest of " in (verdict.evidence.failed or ""):
            settings = pytest_settings_for_examples(layout_of(self._file, self._text).path)
            if settings:  # they do not apply to a file that runs as a script
                message = in_lines(_SETTINGS.format(tests=self._file.name), verdict.evidence.message)
                evidence = replace(verdict.evidence, message=brief(message))
                return replace(verdict, judgement=Judgement.REFUSED, evidence=evidence)
        return verdict

    def recorded_calls(self, target: str, cancel: Event | None) -> Sequence[Any]:
        """The calls of a function that the tests make while the right program runs; see `TestRun`."""
        return replace(self._test_run(self._right), original=self._right).recorded_calls(target, cancel)

    def _test_run(self, program: str) -> TestRun:
        tree = self._tree
        at = layout_of(self._file, self._text)
        place = imported_place(program, layout_of(self._path, program), tree, at, self._original)
        target = self._function or _last_function(program) or ""
        cases, check = _has_cases(tree.body), _checks(tree)
        script = {"source": self._text, "path": str(at.path), "target": target, "check": not cases or check}
        task: dict[str, object] = {"script": script}
        if cases:
            file = {"path": str(at.path), "module": at.module, "root": str(at.root)}
            files = [{**file, "lent": not _imports(tree, place.module)}]
            task = {"files": files, **(task if check or _has_examples(tree) else {})}
        readable = at.readable or (self._file,)
        return TestRun(TESTS, self._setting, place, task, folder=place.project, readable=readable)


def _has_cases(body: Sequence[ast.stmt]) -> bool:
    """Whether pytest or unittest may find a case in the body of a module or class: they decide which are."""
    for node in body:
        if isinstance(node, _Definition) and node.name.startswith("test"):
            return True
        if isinstance(node, ast.ClassDef):
            bases = (ast.unparse(base).rpartition(".")[2].lower() for base in node.bases)
            if node.name.startswith("Test") or any("test" in base for base in bases):
                return True
        parts = (getattr(node, name, ()) for name in ("body", "orelse", "finalbody"))
        if not isinstance(node, _Definition) and any(map(_has_cases, parts)):
            return True
    return False


def _checks(tree: ast.Module) -> bool:
    """Whether it has a `check(candidate)`; any other `check` may be a helper of test cases."""
    checks = (node for node in tree.body if isinstance(node, _Definition) and node.name == "check")
    return any([argument.arg for argument in node.args.args] == ["candidate"] for node in checks)


def _imports(tree: ast.Module, module: str) -> bool:
    """Whether it imports the program, its package, or something with its name."""
    names = {module.partition(".")[0], module.rpartition(".")[2]}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            sources = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            if any(not names.isdisjoint(source.split(".")) for source in sources):
                return True
    return False


def _has_examples(tree: ast.Module) -> bool:
    """Whether docstrings have examples with expected output."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | _Definition):
            text = ast.get_docstring(node, clean=False) or ""
            try:
                if any(example.want for example in doctest.DocTestParser().get_examples(text)):
                    return True
            except ValueError:  # malformed examples, which doctest itself would reject
                continue
    return False


def _can_fail(tree: ast.Module) -> bool:
    """Whether there is an assertion in a test case, an example, or code that runs on import."""
    if _has_cases(tree.body) or _has_examples(tree):
        return True
    definitions = {node.name: node for node in tree.body if isinstance(node, _Definition | ast.ClassDef)}
    todo: list[ast.AST] = [node for node in tree.body if node not in definitions.values()]
    todo += [node for name, node in definitions.items() if name == "check"]
    reached: set[str] = set()
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Assert | ast.Raise):
            return True
        if isinstance(node, ast.Attribute) and node.attr.lower().startswith("assert"):
            return True
        name = node.id if isinstance(node, ast.Name) else None
        if name in definitions and name not in reached:
            reached.add(name)
            todo.append(definitions[name])
        todo += node.orelse if _is_for_scripts(node) else ast.iter_child_nodes(node)  # type: ignore[attr-defined]
    return False


def _is_for_scripts(node: ast.AST) -> bool:
    """Whether it is an `if __name__ == "__main__"`, which is false here."""
    return isinstance(node, ast.If) and any(
        isinstance(each, ast.Name) and each.id == "__name__" for each in ast.walk(node.test)
    )


def _last_function(program: str) -> str | None:
    try:
        tree = parse_module(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return next((node.name for node in reversed(tree.body) if isinstance(node, _Definition)), None)


class SuppliedTestsJudge(RunningJudge):
    """Judges programs by tests supplied as text; see the module.

    Args:
        tests: Statements that run in the namespace of the program, and raise if it is wrong.
        target: The name of the function that they call.
        original: The program with the reference solution.
        setting: The sandbox and interpreter for programs.
    """

    attribution = ID

    def __init__(self, tests: str, target: str, original: str, setting: Setting) -> None:
        self._text, self._target = tests, target
        super().__init__(TestRun(ID, setting, None, {"supplied": tests}, original=original))

    @cached_property
    def tests(self) -> int:
        """The number of assertions in the tests; 0 if they do not parse."""
        try:
            return sum(isinstance(node, ast.Assert) for node in ast.walk(parse_module(self._text))) or 1
        except (SyntaxError, ValueError):
            return 0

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Run the tests against a program; see `Judge.judge`."""
        name = self._target.rpartition(".")[2]
        if not self.tests or not re.search(rf"\b{re.escape(name)}\b", self._text):
            why = f"the tests do not call {name}" if self.tests else "the tests do not parse"
            return Verdict(Judgement.REFUSED, Evidence(ID, 0, None, why))
        return self._test_run.run(program, self._read, cancel)

    def _read(self, report: dict[str, Any]) -> tuple[Judgement, Evidence]:
        results = report.get("results")
        if not results:
            return Judgement.FAILED, Evidence(ID, 0, None, "the tests did not finish")
        name, outcome, message = map(str, results[0])
        if outcome != "passed":
            return Judgement.FAILED, Evidence(ID, self.tests, name, brief(message))
        return Judgement.PASSED, Evidence(ID, self.tests)


class PythonOutputJudge(OutputJudge):
    """Runs each case in a separate process."""

    def _printed(self, program: str, cancel: Event | None) -> Iterator[str | tuple[Judgement, str]]:
        try:
            parse_module(program)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            yield Judgement.INVALID, f"it does not parse: {error}"
            return
        for case in self.cases:
            yield self._run(program, case, cancel)

    def _run(self, program: str, case: PrintingCase, cancel: Event | None) -> str | tuple[Judgement, str]:
        files = {
            "main.py": program.encode("utf-8", "replace"),
            "input.txt": case.input.encode("utf-8", "replace"),
            "start.py": _START,
        }
        limits = self.setting.limits
        limits = replace(limits, output_bytes=max(ROOM, limits.output_bytes))
        job = Job(files, "start.py", self.setting.python, limits=limits)
        outcome = self.setting.sandbox.run(job, cancel=cancel)
        if outcome.ending is Ending.TIMED_OUT:
            return self._late()
        if outcome.ending is not Ending.EXITED or outcome.code != 0:
            last_line = outcome.errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
            return Judgement.FAILED, f"it ends with an error: {last_line or f'exit code {outcome.code}'}"
        if outcome.truncated:
            return Judgement.FAILED, TOO_MUCH
        return outcome.output.decode("utf-8", "replace")
