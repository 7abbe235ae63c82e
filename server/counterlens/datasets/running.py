"""Running a problem's own tests against a program, in the sandbox."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event

from counterlens.datasets.base import Problem, TestForm
from counterlens.datasets.checking import Checked, Finding
from counterlens.judging.base import LIMITS, Judgement, Setting, Verdict
from counterlens.judging.comparison import PrintingCase
from counterlens.judging.languages import JUDGED, judging_of
from counterlens.languages.registry import title_of
from counterlens.sandbox.base import Limits, Sandbox

_FINDINGS = {
    Judgement.PASSED: Finding.PASSES,
    Judgement.FAILED: Finding.FAILS,
    Judgement.INVALID: Finding.DOES_NOT_PARSE,
    Judgement.TIMED_OUT: Finding.TIMES_OUT,
    Judgement.REFUSED: Finding.NOT_CHECKED,
}


class Runner:
    """Runs the tests of problems.

    Args:
        sandbox: The sandbox for programs.
        limits: The limits of each program.
    """

    def __init__(self, sandbox: Sandbox, limits: Limits = LIMITS) -> None:
        self._sandbox, self._limits = sandbox, limits

    def check(self, problem: Problem, cancel: Event | None = None) -> Checked:
        """Whether the reference solution of a problem passes its tests."""
        tests = problem.tests
        if tests is None:
            return Checked(problem.id, Finding.NO_TESTS)
        if problem.language not in JUDGED:
            return Checked(problem.id, Finding.NOT_CHECKED, f"{title_of(problem.language)} is not run")
        if missing := judging_of(problem.language).missing():
            return Checked(problem.id, Finding.NOT_CHECKED, missing)
        verdict = self.judge(problem, problem.source, cancel)
        why = verdict.evidence.message or verdict.evidence.failed or ""
        if tests.form is TestForm.STDIO and verdict.evidence.failed:
            why = f"{verdict.evidence.failed}: {why}"
        return Checked(problem.id, _FINDINGS[verdict.judgement], "" if verdict.passed else why)

    def judge(self, problem: Problem, program: str, cancel: Event | None = None) -> Verdict:
        """Judge a program by the tests of a problem.

        Raises:
            ValueError: it has no tests that can run.
            SandboxError, Cancelled: as `Sandbox.run`.
        """
        setting = Setting(self._sandbox, Path(sys.executable), self._limits)
        language = judging_of(problem.language)
        tests = problem.tests
        if tests is not None and tests.form is TestForm.STDIO:
            cases = [PrintingCase(case.input, case.output) for case in tests.cases]
            return language.by_output(cases, setting).judge(program, cancel=cancel)
        if tests is None or problem.function is None:
            raise ValueError(f"{problem.id} has no tests that can be run")
        judge = language.supplied(tests.text, problem.function, problem.source, setting)
        return judge.judge(program, cancel=cancel)
