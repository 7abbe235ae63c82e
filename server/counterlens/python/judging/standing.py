"""The test cases that a program fails, all of them, without those whose failure is the harness's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

from counterlens.judging.base import Evidence, Judgement, Verdict, brief
from counterlens.judging.standing import FailedCase
from counterlens.python.judging.harness import StandInTrial, without_cases
from counterlens.python.judging.test_run import Reader, TestRun
from counterlens.text import printable


def standing_before_cases(
    test_run: TestRun, program: str, read: Reader, cancel: Event | None
) -> tuple[TestRun, Verdict, tuple[FailedCase, ...]]:
    """A program before test cases: the cases that can judge it, the verdict by them, and all failures.

    A run in which all cases together take too long stops at its first failure.

    Args:
        read: As for `TestRun.run`.

    Raises:
        SandboxError, Cancelled: as `TestRun.run`.
    """
    heard: list[tuple[str, str, str]] = []

    def hear(report: dict[str, Any]) -> tuple[Judgement, Evidence]:
        heard.extend(
            (str(name), str(outcome), str(message)) for name, outcome, message in report.get("results", ())
        )
        return read(report)

    verdict = test_run.with_task(every=True).run(program, hear, cancel)
    if verdict.judgement is Judgement.TIMED_OUT:
        heard.clear()
        verdict = test_run.run(program, hear, cancel)
    if verdict.judgement not in {Judgement.FAILED, Judgement.TIMED_OUT}:
        return test_run, verdict, ()
    files = [Path(file["path"]) for file in test_run.task["files"]]
    failures = tuple(
        FailedCase(printable(name), printable(brief(message)), _file_of(name, files))
        for name, outcome, message in heard
        if outcome == "failed"
    )
    if verdict.judgement is Judgement.TIMED_OUT:
        return test_run, verdict, failures or _stopped(verdict, files)
    if test_run.original == program:
        test_run.history.original_passes = False
        test_run.history.whole_seconds = verdict.cpu_seconds or verdict.seconds
    trial = StandInTrial(test_run, program, read, cancel)
    unusable = trial.independent_failures()
    if trial.refuse_unclear(verdict).judgement is Judgement.REFUSED:
        return test_run, trial.refuse_unclear(verdict), ()
    if not unusable:
        return test_run, verdict, failures
    left = tuple(each for each in failures if each.name not in unusable)
    if not left:
        return test_run, replace(verdict, judgement=Judgement.REFUSED), ()
    rest = without_cases(test_run, unusable)
    rest.history.original_passes = test_run.history.original_passes
    rest.history.whole_seconds = test_run.history.whole_seconds
    return rest, verdict, left


def _stopped(verdict: Verdict, files: Sequence[Path]) -> tuple[FailedCase, ...]:
    """The test that ran when the program was stopped."""
    name, message = verdict.evidence.failed, verdict.evidence.message
    return (FailedCase(name, message, _file_of(name, files), endless=True),) if name else ()


def _file_of(name: str, files: Sequence[Path]) -> Path | None:
    """The file of a pytest id, which is relative to pytest's root folder."""
    path = name.partition("::")[0]
    return next((file for file in files if str(file) == path or str(file).endswith(f"/{path}")), None)
