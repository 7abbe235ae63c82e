"""The user's own tests: pytest and unittest cases that mention the function."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby
from pathlib import Path
from threading import Event
from typing import Any

from counterlens.judging.base import (
    Evidence,
    FailedCase,
    FailureDetail,
    HoleReach,
    Judgement,
    Setting,
    StandingByTests,
    Verdict,
    brief,
)
from counterlens.python.judging.discovery import CaseName, cases_for, files_with_tests
from counterlens.python.judging.layout import Layout, layout_of
from counterlens.python.judging.test_run import RunningJudge, TestRun, in_lines
from counterlens.python.syntax.parsing import parse_module
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.text import printable

TestItem = tuple[str, str]
"""A test's file, and its pytest id after the file."""
RanBy = Mapping[int, Collection[TestItem]]
"""The lines on which a statement of a function begins, each with the tests that run that line."""
ID = "tests"
_ADVICE = (
    "see what `python -m pytest` says. Here tests have no network, no variables of your environment, and of "
    "your files only those of the project. Install what is missing, or leave the test out (--excluded-tests)"
)


def into(lines: range, ran_by: RanBy, judging: Collection[TestItem]) -> HoleReach:
    """The coverage of some lines by some tests."""
    by_line = [set(tests) & set(judging) for line, tests in ran_by.items() if line in lines]
    return HoleReach(len(set().union(*by_line)), sum(map(bool, by_line)), len(by_line))


def statement_lines(text: str, lines: range) -> list[int]:
    """Return the lines, of those given, on which a statement begins, ascending."""
    starts = {node.lineno for node in ast.walk(parse_module(text)) if isinstance(node, ast.stmt)}
    return sorted(starts.intersection(lines))


@dataclass(frozen=True, slots=True)
class Choice:
    """Individually chosen tests, and those left out.

    Attributes:
        items: The pytest ids of the chosen tests of each file, with their parameters.
        reaching: Number of usable tests that they were chosen from.
        left_out: Names of the unusable tests, with the reason.
        ran_by: The chosen tests that run each statement of the function's body, by line; None if the document
            differs from the file that they ran.
    """

    items: Mapping[str, Sequence[str]]
    reaching: int
    left_out: Mapping[str, str]
    ran_by: RanBy | None = None


class CasesJudge(RunningJudge):
    """Runs test cases with the program instead of the file that they import.

    Uses pytest with the user's configuration if the interpreter has it; otherwise runs `unittest` cases and
    plain `test_*` functions. Stops at the first failure.
    """

    attribution = ID

    def __init__(
        self,
        cases: Sequence[CaseName],
        test_run: TestRun,
        verdicts: Mapping[str, Verdict] | None = None,
        choice: Choice | None = None,
    ) -> None:
        super().__init__(test_run)
        self._cases, self._choice = cases, choice
        self._verdicts = dict(verdicts) if verdicts is not None else None

    @property
    def tests(self) -> int:
        """The number of cases; a parametrised one counts once, unless its items were chosen."""
        chosen = [len(file["items"]) for file in self._test_run.task["files"] if "items" in file]
        return sum(chosen) if chosen else len(self._cases)

    @property
    def reaching(self) -> int:
        """The number of usable tests that run the function, if known; else of those that judge it."""
        return self._choice.reaching if self._choice else self.tests

    def reach(self, lines: range) -> HoleReach | None:
        """The coverage of some lines of the function, 1-based, by these cases; None if unknown."""
        if self._choice is None or self._choice.ran_by is None:
            return None
        files = self._test_run.task["files"]
        judging = {(file["path"], item) for file in files for item in file.get("items", ())}
        return into(lines, self._choice.ran_by, judging)

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Run the cases against a program; see `Judge.judge`."""
        verdict = self._verdicts.pop(program, None) if self._verdicts else None  # a second call runs it again
        return verdict or self._test_run.run(program, self._read, cancel)

    def _read(self, report: dict[str, Any]) -> tuple[Judgement, Evidence]:
        return read_cases(report) if self._verdicts is None else _read_vetted(report)

    def standing(self, program: str, *, cancel: Event | None = None) -> StandingByTests | None:
        """The cases that a program fails, all of them; see `Judge.standing`."""
        verdict, failures = _failures_of(self._test_run, program, cancel)
        if verdict.judgement is Judgement.REFUSED:
            return None
        spent = verdict.cpu_seconds or verdict.seconds
        return StandingByTests(self, failures, not verdict.passed, verdict.evidence.message, spent)

    def vetted(self, original: str, cancel: Event | None) -> CasesJudge | str:
        """The judge by the cases that pass on the original; the reason if none does."""
        from counterlens.python.judging.vetting import vet  # a function with examples alone needs none of it

        results = vet(self._test_run, original, cancel)
        if self._choice:
            results = replace(results, without={**self._choice.left_out, **results.without})
        if not results.passed:
            return results.left_out or "pytest found none of the tests"
        files = [file for file in self._test_run.task["files"] if file["path"] not in results.broken]
        names = {name.partition("[")[0] for name in results.passed}
        files = [
            {**file, "cases": [case for case in file["cases"] if _runs(file, case, names)]} for file in files
        ]
        whole = [
            {**file, "items": [item for item in file["items"] if _has_passed(file, item, results.passed)]}
            if "items" in file
            else file
            for file in files
        ]
        kept = {(file["path"], owner, name) for file in files for owner, name in file["cases"]}
        cases = [case for case in self._cases if (str(case.file), case.owner, case.name) in kept]
        test_run = self._test_run.with_task(
            files=[file for file in whole if file["cases"]], without=sorted(results.without)
        )
        return CasesJudge(cases, test_run, {original: results.verdict(ID)}, self._choice)


def find(document: Document, function: Function, setting: Setting) -> CasesJudge | None:
    """The judge by the user's tests; None if no test mentions the function."""
    if document.path is None:
        return None
    place = layout_of(document.path, document.text)
    cases = cases_for(function.qualname, place, files_with_tests(place))
    if setting.excluded:
        from counterlens.python.judging.suite import Suite

        excludes = Suite(place.project, setting.excluded).excludes
        cases = [c for c in cases if not excludes(c.file, "::".join(filter(None, (c.owner, c.name))))]
    if not cases:
        return None
    return judge_by(cases, place, document.text, setting)


def judge_by(
    cases: Sequence[CaseName],
    place: Layout,
    original: str,
    setting: Setting,
    choice: Choice | None = None,
) -> CasesJudge:
    """The judge by some test cases.

    Args:
        cases: The cases, grouped by file.
        place: The file that they test.
        original: Its text.
        setting: Their sandbox and interpreter.
        choice: The chosen parameters of the cases, if not all.
    """
    files = []
    for path, group in groupby(cases, key=lambda case: case.file):
        at = layout_of(path)
        chosen = [[case.owner, case.name] for case in group]
        file = {"path": str(path), "module": at.module, "root": str(at.root), "cases": chosen}
        files.append({**file, "items": choice.items[str(path)]} if choice else file)
    test_run = TestRun(ID, setting, place, {"files": files}, folder=place.project, original=original)
    return CasesJudge(cases, test_run, choice=choice)


def _runs(file: Mapping[str, Any], case: Sequence[str], names: Collection[str]) -> bool:
    """Whether a case is among the names that passed; the class may be a subclass that inherits it."""
    return any(
        name.rpartition("::")[2] == case[1] and file["path"].endswith("/" + name.partition("::")[0])
        for name in names
    )


def _has_passed(file: Mapping[str, Any], item: str, names: Collection[str]) -> bool:
    """Whether an item of a file is among the names that passed."""
    named = (name.partition("::") for name in names)
    return any(of == item and file["path"].endswith("/" + path) for path, _, of in named)


def _read_vetted(report: dict[str, Any]) -> tuple[Judgement, Evidence]:
    """Like `read_cases`, but the original passes every case, so any other outcome is the program's fault."""
    for name, outcome, message in report.get("results", ()):
        if outcome != "passed":
            run = sum(each[1] == "passed" for each in report["results"])
            return Judgement.FAILED, Evidence(ID, run + 1, str(name), brief(str(message)))
    return read_cases({**report, "harness": None, "unstarted": None})


def read_cases(report: dict[str, Any]) -> tuple[Judgement, Evidence]:
    """The judgement from the runner's report on cases."""
    results = [
        (str(name), str(outcome), str(message)) for name, outcome, message in report.get("results", ())
    ]
    of = {
        kind: [result for result in results if result[1] == kind]
        for kind in ("passed", "failed", "skipped", "unsupported")
    }
    run = len(of["passed"]) + len(of["failed"])
    hindered = report.get("harness") or (None if of["failed"] else report.get("unstarted"))
    if hindered:
        return Judgement.REFUSED, Evidence(ID, 0, None, brief(str(hindered)))
    if of["failed"]:
        name, _, message = of["failed"][0]
        detail = read_detail(report.get("details", {}).get(name, {}))
        return Judgement.FAILED, Evidence(ID, run, name, brief(message), detail=detail)
    if report.get("problem"):
        return Judgement.FAILED, Evidence(ID, run, None, brief(str(report["problem"])))
    if len(results) != report.get("expected"):
        return Judgement.FAILED, Evidence(ID, run, None, "not all tests finished")
    left_out = of["unsupported"] + of["skipped"]
    note = ""
    if left_out:
        name, outcome, message = left_out[0]
        reason = "cannot be run" if outcome == "unsupported" else "skipped"
        note = brief(f"{len(left_out)} of {len(results)} {reason}: {name}: {message}")
    if not of["passed"]:
        note = in_lines(note, _ADVICE if of["unsupported"] else "") or "pytest found none of the tests"
        return Judgement.REFUSED, Evidence(ID, 0, None, note)
    return Judgement.PASSED, Evidence(ID, run, None, note)


def read_detail(reported: Mapping[str, Any]) -> FailureDetail:
    """What a runner reported about a failed test; a program may have reported anything."""
    kinds = {field.name: type(field.default) for field in fields(FailureDetail)}
    values: Any = {name: value for name, value in reported.items() if isinstance(value, kinds.get(name, ()))}
    return FailureDetail(**values)


def _failures_of(
    test_run: TestRun, program: str, cancel: Event | None
) -> tuple[Verdict, tuple[FailedCase, ...]]:
    """The verdict of test cases on a program, and all that it fails.

    A run in which all cases together take too long stops at its first failure.

    Raises:
        SandboxError, Cancelled: as `TestRun.run`.
    """
    heard: list[tuple[str, str, str]] = []
    details: dict[str, FailureDetail] = {}

    def hear(report: dict[str, Any]) -> tuple[Judgement, Evidence]:
        details.update({str(name): read_detail(each) for name, each in report.get("details", {}).items()})
        heard.extend(
            (str(name), str(outcome), str(message)) for name, outcome, message in report.get("results", ())
        )
        return read_cases(report)

    verdict = test_run.with_task(every=True).run(program, hear, cancel)
    if verdict.judgement is Judgement.TIMED_OUT:
        heard.clear()
        verdict = test_run.run(program, hear, cancel)
    if verdict.judgement not in {Judgement.FAILED, Judgement.TIMED_OUT}:
        return verdict, ()
    files = [Path(file["path"]) for file in test_run.task["files"]]
    failures = tuple(
        FailedCase(
            printable(name), printable(brief(message)), _file_of(name, files), detail=details.get(name)
        )
        for name, outcome, message in heard
        if outcome == "failed"
    )
    if verdict.judgement is Judgement.TIMED_OUT and not failures:
        failures = _stopped(verdict, files)
    return verdict, failures


def _stopped(verdict: Verdict, files: Sequence[Path]) -> tuple[FailedCase, ...]:
    """The test that ran when the program was stopped."""
    name, message = verdict.evidence.failed, verdict.evidence.message
    return (FailedCase(name, message, _file_of(name, files), endless=True),) if name else ()


def _file_of(name: str, files: Sequence[Path]) -> Path | None:
    """The file of a pytest id, which is relative to pytest's root folder."""
    path = name.partition("::")[0]
    return next((file for file in files if str(file) == path or str(file).endswith(f"/{path}")), None)
