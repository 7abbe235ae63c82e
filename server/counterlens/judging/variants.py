"""Judging many variants of a program at once, where a judge can do that.

A variant is the original with another body of a function. A judge that runs all of them at once gives the
verdicts of one that runs each, with one exception: what the original did when it was imported is not done
again. So a variant may pass here that fails by itself; a caller to whom that matters judges those that pass
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import Protocol, runtime_checkable

from counterlens.judging.base import Judge, Judgement, Verdict
from counterlens.judging.joint import JointJudge


@runtime_checkable
class VariantsJudge(Protocol):
    """A judge that runs many variants of the original at once."""

    def judge_variants(self, programs: Sequence[str], *, cancel: Event | None = None) -> list[Verdict]:
        """The verdicts on variants; see the module."""
        ...


def judge_variants(judge: Judge, programs: Sequence[str], *, cancel: Event | None = None) -> list[Verdict]:
    """The verdicts of any judge on variants of its original, at once if it can do that; see the module.

    Raises:
        SandboxError, Cancelled: as `Judge.judge`.
    """
    if isinstance(judge, JointJudge):
        verdicts = judge_variants(judge.judges[0], programs, cancel=cancel)
        for part in judge.judges[1:]:
            able = {Judgement.PASSED, Judgement.REFUSED}
            left = [number for number, verdict in enumerate(verdicts) if verdict.judgement in able]
            more = judge_variants(part, [programs[number] for number in left], cancel=cancel)
            for number, verdict in zip(left, more, strict=True):
                if verdict.judgement is not Judgement.REFUSED:
                    verdicts[number] = verdict
        return verdicts
    if isinstance(judge, VariantsJudge):
        return judge.judge_variants(programs, cancel=cancel)
    return [judge.judge(program, cancel=cancel) for program in programs]
