"""The examples in a function's own docstring."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from pathlib import Path
from threading import Event
from typing import Any

from counterlens.judging.base import Evidence, FailureDetail, Judgement, Setting, Verdict, brief
from counterlens.judging.projects import folders_around
from counterlens.python.judging.discovery import read_text
from counterlens.python.judging.layout import LARGEST, SETTINGS, layout_of
from counterlens.python.judging.sandboxed.runner.failures import unlike
from counterlens.python.judging.test_run import RunningJudge, TestRun, in_lines
from counterlens.python.judging.unittests import read_cases
from counterlens.python.syntax.parsing import parse_module
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

ID = "doctest"
_DIRECTIVE = re.compile(r"#\s*doctest:.*")
_CONFTEST = "conftest.py"
_UNREAD = "{file} is outside of the project and was not used; import it in a conftest.py of the project"
_SETTINGS = (_CONFTEST, "pytest.toml", ".pytest.toml", *SETTINGS)
_WITHOUT_SETTINGS = "pytest ran the examples, in the process of the program; without the project's settings: "


class DoctestJudge(RunningJudge):
    """Runs examples in the module that a program defines, and compares their output.

    The expected output never enters the sandbox: the program cannot find it there, and nothing that it does
    can make a wrong output right. If the original fails them like that, and the project has settings of
    pytest for examples, such as options and names from `doctest_namespace`, pytest itself runs them in the
    process of the program.
    """

    attribution = ID

    def __init__(
        self, examples: Sequence[doctest.Example], test_run: TestRun, by_pytest: TestRun | None = None
    ) -> None:
        super().__init__(test_run)
        self._by_pytest = by_pytest
        self._examples = [example for example in examples if not example.options.get(doctest.SKIP)]
        self._ignored: set[int] = set()  # examples that fail on the original
        self._verdicts: dict[str, Verdict] = {}
        self._vetted = False
        self._wrong: int | None = None

    @property
    def tests(self) -> int:
        """The number of examples with expected output, without those known to fail on the original."""
        return sum(
            bool(example.want) and number not in self._ignored
            for number, example in enumerate(self._examples)
        )

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Run the examples against a program; see `Judge.judge`."""
        if program in self._verdicts:
            return self._verdicts.pop(program)
        verdict = self._test_run.run(program, self._read, cancel)
        if self._by_pytest is None or verdict.judgement is not Judgement.FAILED:
            return verdict
        if self._test_run.passes_original(self._read, cancel):
            return verdict
        return self._ask_pytest(program, verdict, cancel)

    def _ask_pytest(self, program: str, plain: Verdict, cancel: Event | None) -> Verdict:
        """Let pytest run the examples of a program that fails without the project's settings."""
        assert self._by_pytest is not None
        verdict = self._by_pytest.run(program, read_cases, cancel)
        unread = next((str(file) for file in self._by_pytest.readable if self._is_unread(file)), None)
        if verdict.judgement is Judgement.FAILED and (unread or verdict.evidence.failed is None):
            verdict = replace(verdict, judgement=Judgement.REFUSED)  # not because of an example
        why = _WITHOUT_SETTINGS + plain.evidence.message if verdict.passed else ""
        why = _UNREAD.format(file=unread) if unread and not verdict.passed else why
        message = brief(in_lines(why, verdict.evidence.message))
        tests = self.tests if verdict.passed else verdict.evidence.tests
        evidence = replace(verdict.evidence, attribution=ID, tests=tests, message=message)
        return replace(verdict, evidence=evidence, seconds=plain.seconds + verdict.seconds)

    def _is_unread(self, file: Path) -> bool:
        """Whether a file of the settings is not used, because the program may not list its folder."""
        place = self._by_pytest.place if self._by_pytest is not None else None
        return place is not None and file.name == _CONFTEST and not file.is_relative_to(place.project)

    def vetted(self, original: str, cancel: Event | None) -> DoctestJudge | str:
        """The judge by the examples that pass on the original; the reason if none does."""
        if self._by_pytest is not None and (verdict := self.judge(original, cancel=cancel)).passed:
            self._vetted, self._verdicts = True, {original: verdict}
            return self
        judge = DoctestJudge(self._examples, self._test_run)
        reason = ""
        for _ in self._examples:
            verdict = judge._test_run.run(original, judge._read, cancel)
            if verdict.passed:
                note = f"{len(judge._ignored)} left out: {reason}" if judge._ignored else ""
                evidence = replace(verdict.evidence, message=note)
                judge._vetted = True
                judge._verdicts = {original: replace(verdict, evidence=evidence)}
                break
            wrong = judge._wrong
            if wrong is None or wrong in judge._ignored:
                return verdict.evidence.message or str(verdict.judgement)
            judge._ignored.add(wrong)
            reason = reason or f"{verdict.evidence.failed}: {verdict.evidence.message}"
        return judge if judge.tests and judge._verdicts else brief(reason)

    def _read(self, report: dict[str, Any]) -> tuple[Judgement, Evidence]:
        results = report.get("results")
        if not isinstance(results, list) or len(results) != len(self._examples):
            return Judgement.FAILED, Evidence(ID, 0, None, "not all examples were run")
        run, self._wrong = 0, None
        for number, (example, (printed, raised)) in enumerate(zip(self._examples, results, strict=True)):
            if number in self._ignored:
                continue
            run += bool(example.want)
            wrong = _compare(example, str(printed), raised)
            if wrong is not None:
                self._wrong = number
                message = brief(_in_words(wrong))
                return Judgement.FAILED, Evidence(ID, max(run, 1), wrong.statement, message, detail=wrong)
        return Judgement.PASSED, Evidence(ID, run)


def find(document: Document, function: Function, setting: Setting) -> DoctestJudge | None:
    """The judge by docstring examples; None if none has expected output."""
    if document.path is not None and setting.excluded:
        from counterlens.python.judging.suite import Suite

        place = layout_of(document.path, document.text)
        if Suite(place.project, setting.excluded).excludes(place.path, function.qualname):
            return None
    return judge_by(_docstring(document, function), document, setting, function.qualname)


def judge_by(docstring: str | None, document: Document, setting: Setting, name: str) -> DoctestJudge | None:
    """The judge by one docstring of a document; None if none of its examples has expected output."""
    if not docstring or ">>>" not in docstring:
        return None
    place = layout_of(document.path, document.text) if document.path else None
    settings = pytest_settings_for_examples(place.path) if place else ()
    parse = doctest.DocTestParser().get_examples
    try:
        examples = parse(docstring, name)
    except ValueError:  # malformed examples, which doctest itself would reject, or an option of a plug-in
        if not settings:
            return None
        try:
            examples = parse(_DIRECTIVE.sub("", docstring), name)
        except ValueError:
            return None
    task = {"examples": [example.source for example in examples if not example.options.get(doctest.SKIP)]}
    by_pytest = None
    if place and settings:
        file = {"path": str(place.path), "module": place.module, "root": str(place.root)}
        files = [{**file, "cases": [["", name]], "examples": True}]
        by_pytest = TestRun(
            ID,
            setting,
            place,
            {"files": files},
            folder=place.project,
            readable=settings,
        )
    judge = DoctestJudge(examples, TestRun(ID, setting, place, task, original=document.text), by_pytest)
    return judge if judge.tests else None


def pytest_settings_for_examples(path: Path) -> tuple[Path, ...]:
    """The files that configure pytest around a file; none if none of them mentions doctests."""
    files = [folder / name for folder in folders_around(path) for name in _SETTINGS]
    existing = {file: read_text(file, LARGEST) or "" for file in files if file.is_file()}
    return tuple(existing) if any("doctest" in text for text in existing.values()) else ()


def _docstring(document: Document, function: Function) -> str | None:
    try:
        tree = parse_module(document.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    line = document.positions.line_of(function.header) + 1
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name == function.name and node.lineno == line:
            return ast.get_docstring(node, clean=False)
    return None


def _compare(example: doctest.Example, printed: str, raised: str | None) -> FailureDetail | None:
    """The problem with an example's result; None if there is none. The rules are those of doctest."""
    flags = reduce(or_, (flag for flag, on in example.options.items() if on), 0)
    checker = doctest.OutputChecker()
    wrong = FailureDetail(statement=example.source.strip(), operator="example", right=example.want)
    if raised is None:
        right = checker.check_output(example.want, printed, flags)
        return None if right else replace(wrong, left=printed)
    wrong = replace(wrong, error=raised.strip(), right=example.exc_msg or example.want)
    if example.exc_msg is None:
        return wrong
    same_type = _type_name(example.exc_msg) == _type_name(raised)
    ignored = bool(flags & doctest.IGNORE_EXCEPTION_DETAIL) and same_type
    return None if ignored or checker.check_output(example.exc_msg, raised, flags) else wrong


def _in_words(wrong: FailureDetail) -> str:
    """What an example expected, and what came instead."""
    if not wrong.error:
        return unlike(wrong.right, wrong.left)
    expected = wrong.right.rstrip("\n").replace("\n", "\n          ")
    return (f"expected: {expected}\n" if expected else "") + f"raised:   {wrong.error}"


def _type_name(message: str) -> str:
    """`ValueError` from `package.ValueError: what happened`."""
    return message.partition("\n")[0].partition(":")[0].rpartition(".")[2].strip()
