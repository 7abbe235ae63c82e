"""The tests that a program fails, all of them, without those whose failure is the harness's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any, Protocol, runtime_checkable

from counterlens.attribution.base import Evidence, Judge, Judgement, Verdict
from counterlens.attribution.harness import StandInTrial, without_cases
from counterlens.attribution.joint import JointJudge
from counterlens.attribution.test_run import Reader, TestRun, brief
from counterlens.text import printable


@dataclass(frozen=True, slots=True)
class FailedCase:
    """One test that a program fails.

    Attributes:
        name: Its pytest id, or the source of an example of a docstring.
        message: The message: the line of the test, if known, and the error below it.
        file: Its file; None for an example of a docstring.
        endless: Whether it was stopped.
    """

    name: str
    message: str
    file: Path | None = None
    endless: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """A program before its tests.

    Attributes:
        judge: The judge by the tests that can judge it.
        failures: The tests that it fails; empty if it passes all.
        failed: Whether it does not pass, for a reason outside of any test if there are no failures.
        message: That reason.
    """

    judge: Judge
    failures: tuple[FailedCase, ...] = ()
    failed: bool = False
    message: str = ""


@runtime_checkable
class StandingJudge(Protocol):
    """A judge that can run all its tests, also after a failure."""

    def standing(self, program: str, *, cancel: Event | None = None) -> Standing | None:
        """See `standing_of`."""
        ...


def standing_of(judge: Judge, program: str, *, cancel: Event | None = None) -> Standing | None:
    """The tests of any judge that a program fails; None if none of them can judge it.

    Raises:
        SandboxError, Cancelled: as `Judge.judge`.
    """
    if isinstance(judge, JointJudge):
        parts = [standing_of(part, program, cancel=cancel) for part in judge.judges]
        known = [part for part in parts if part is not None]
        if not known:
            return None
        return Standing(
            JointJudge([part.judge for part in known]) if len(known) > 1 else known[0].judge,
            tuple(failure for part in known for failure in part.failures),
            any(part.failed for part in known),
            next((part.message for part in known if part.message), ""),
        )
    if isinstance(judge, StandingJudge):
        return judge.standing(program, cancel=cancel)
    return _by_verdict(judge, judge.judge(program, cancel=cancel))


def standing_before_cases(
    test_run: TestRun, program: str, read: Reader, cancel: Event | None
) -> tuple[TestRun, Verdict, tuple[FailedCase, ...]]:
    """A program before test cases: the cases that can judge it, the verdict by them, and all failures.

    A run in which all cases together take too long stops at its first failure.

    Args:
        test_run: The cases.
        program: The program.
        read: As for `TestRun.run`.
        cancel: Set to cancel.

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


def _by_verdict(judge: Judge, verdict: Verdict) -> Standing | None:
    """The one failure that a verdict knows."""
    if verdict.judgement is Judgement.REFUSED:
        return None
    if verdict.passed:
        return Standing(judge)
    evidence = verdict.evidence
    endless = verdict.judgement is Judgement.TIMED_OUT
    known = (FailedCase(evidence.failed, evidence.message, None, endless),) if evidence.failed else ()
    return Standing(judge, known, failed=True, message=evidence.message)


def _stopped(verdict: Verdict, files: Sequence[Path]) -> tuple[FailedCase, ...]:
    """The test that ran when the program was stopped."""
    name, message = verdict.evidence.failed, verdict.evidence.message
    return (FailedCase(name, message, _file_of(name, files), endless=True),) if name else ()


def _file_of(name: str, files: Sequence[Path]) -> Path | None:
    """The file of a pytest id, which is relative to pytest's root folder."""
    path = name.partition("::")[0]
    return next((file for file in files if str(file) == path or str(file).endswith(f"/{path}")), None)
