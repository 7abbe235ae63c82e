"""Running a problem's own tests against a program, in the sandbox."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from threading import Event

from counterlens.attribution.base import LIMITS, Judgement, Setting, Verdict
from counterlens.attribution.languages import judged, judged_languages
from counterlens.datasets.base import Case, Problem, TestForm
from counterlens.datasets.checking import Checked, Finding
from counterlens.sandbox.base import Ending, Job, Limits, Sandbox

_OUTPUT_BYTES = 4 << 20
# A file and not a pipe: some programs ask how long their input is.
_START = b"""\
import os, runpy, sys
os.dup2(os.open("input.txt", os.O_RDONLY), 0)
sys.argv[:] = ["main.py"]
runpy.run_path("main.py", run_name="__main__")
"""
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
        sandbox: Where.
        limits: The limits of each program.
    """

    def __init__(self, sandbox: Sandbox, limits: Limits = LIMITS) -> None:
        self._sandbox, self._limits = sandbox, limits

    def check(self, problem: Problem, cancel: Event | None = None) -> Checked:
        """Whether the reference solution of a problem passes its tests."""
        tests = problem.tests
        if tests is None:
            return Checked(problem.id, Finding.NO_TESTS)
        if problem.language not in judged_languages():
            return Checked(problem.id, Finding.NOT_CHECKED, f"{problem.language} is not run")
        if missing := judged(problem.language).missing():
            return Checked(problem.id, Finding.NOT_CHECKED, missing)
        if tests.form is TestForm.STDIO:
            return self._check_cases(problem, tests.cases, cancel)
        verdict = self.judge(problem, problem.source, cancel)
        why = verdict.evidence.message or verdict.evidence.failed or ""
        return Checked(problem.id, _FINDINGS[verdict.judgement], "" if verdict.passed else why)

    def judge(self, problem: Problem, program: str, cancel: Event | None = None) -> Verdict:
        """The judgement of a program by the tests of a problem.

        Raises:
            ValueError: its tests are no code, or it has no function.
            SandboxError, Cancelled: as `Sandbox.run`.
        """
        if problem.tests is None or problem.tests.form is TestForm.STDIO or problem.function is None:
            raise ValueError(f"{problem.id} has no tests that are code")
        setting = Setting(self._sandbox, Path(sys.executable), self._limits)
        language = judged(problem.language)
        judge = language.supplied(problem.tests.text, problem.function, problem.source, setting)
        return judge.judge(program, cancel=cancel)

    def output(self, program: str, given: str, cancel: Event | None = None) -> str | None:
        """The output of a program for some input; None if it fails or times out.

        Raises:
            SandboxError, Cancelled: as `Sandbox.run`.
        """
        outcome = self._sandbox.run(
            Job(
                files={"main.py": program.encode(), "input.txt": given.encode(), "start.py": _START},
                entry="start.py",
                python=Path(sys.executable),
                limits=replace(self._limits, output_bytes=_OUTPUT_BYTES),
            ),
            cancel=cancel,
        )
        ended = outcome.ending is Ending.EXITED and outcome.code == 0
        return outcome.output.decode("utf-8", "replace") if ended else None

    def _check_cases(self, problem: Problem, cases: tuple[Case, ...], cancel: Event | None) -> Checked:
        for number, case in enumerate(cases, 1):
            found = self.output(problem.source, case.input, cancel)
            if found is None:
                return Checked(problem.id, Finding.FAILS, f"case {number}: it fails or times out")
            if not same_output(found, case.output):
                return Checked(problem.id, Finding.FAILS, f"case {number}: it prints something different")
        return Checked(problem.id, Finding.PASSES)


def same_output(found: str, expected: str) -> bool:
    """Whether two outputs are the same but for blanks at the ends of lines and of the text."""
    return _lines(found) == _lines(expected)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]
