"""The tests that a program fails, all of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Protocol, runtime_checkable

from counterlens.judging.base import Judge, Judgement, Verdict
from counterlens.judging.joint import JointJudge


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
class StandingByTests:
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

    def standing(self, program: str, *, cancel: Event | None = None) -> StandingByTests | None:
        """See `standing_of`."""
        ...


def standing_of(judge: Judge, program: str, *, cancel: Event | None = None) -> StandingByTests | None:
    """The tests of any judge that a program fails; None if none of them can judge it.

    Raises:
        SandboxError, Cancelled: as `Judge.judge`.
    """
    if isinstance(judge, JointJudge):
        parts = [standing_of(part, program, cancel=cancel) for part in judge.judges]
        known = [part for part in parts if part is not None]
        if not known:
            return None
        return StandingByTests(
            JointJudge([part.judge for part in known]) if len(known) > 1 else known[0].judge,
            tuple(failure for part in known for failure in part.failures),
            any(part.failed for part in known),
            next((part.message for part in known if part.message), ""),
        )
    if isinstance(judge, StandingJudge):
        return judge.standing(program, cancel=cancel)
    return _by_verdict(judge, judge.judge(program, cancel=cancel))


def _by_verdict(judge: Judge, verdict: Verdict) -> StandingByTests | None:
    """The one failure that a verdict knows."""
    if verdict.judgement is Judgement.REFUSED:
        return None
    if verdict.passed:
        return StandingByTests(judge)
    evidence = verdict.evidence
    endless = verdict.judgement is Judgement.TIMED_OUT
    known = (FailedCase(evidence.failed, evidence.message, None, endless),) if evidence.failed else ()
    return StandingByTests(judge, known, failed=True, message=evidence.message)
