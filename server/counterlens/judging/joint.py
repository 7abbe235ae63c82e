"""Several judges as one."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

from counterlens.judging.base import Evidence, Judge, Judgement, Verdict


class JointJudge:
    """Several judges as one: a program passes if it passes with every judge that could judge it."""

    def __init__(self, judges: Sequence[Judge]) -> None:
        self.judges = judges

    @property
    def attribution(self) -> str:
        """The ids of the attribution functions, joined by `+`."""
        return "+".join(dict.fromkeys(judge.attribution for judge in self.judges))

    @property
    def tests(self) -> int:
        """The total number of their cases."""
        return sum(judge.tests for judge in self.judges)

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Run the judges in order until the program fails with one; see `Judge.judge`."""
        heard: list[Verdict] = []
        for judge in self.judges:
            heard.append(judge.judge(program, cancel=cancel))
            if heard[-1].judgement not in {Judgement.PASSED, Judgement.REFUSED}:
                break
        able = [verdict for verdict in heard if verdict.judgement is not Judgement.REFUSED] or heard
        last, tests = able[-1], sum(verdict.evidence.tests for verdict in able)
        names = "+".join(dict.fromkeys(verdict.evidence.attribution for verdict in able))
        notes = [v.evidence.message for v in heard if v.evidence.message and v is not last]
        message = "\n".join([last.evidence.message, *notes] if last.evidence.message else notes)
        shown = message if last.passed else last.evidence.message
        evidence = Evidence(names, tests, last.evidence.failed, shown)
        used = [verdict.seconds if verdict.cpu_seconds is None else verdict.cpu_seconds for verdict in heard]
        return Verdict(last.judgement, evidence, sum(verdict.seconds for verdict in heard), max(used))
