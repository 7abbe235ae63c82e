"""Several judges as one."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import Any

from counterlens.judging.base import Evidence, HoleReach, Judge, Judgement, StandingByTests, Verdict


class JointJudge(Judge):
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

    @property
    def at_once(self) -> bool:  # type: ignore[override]
        """Whether any of them runs many variants together."""
        return any(judge.at_once for judge in self.judges)

    def judge_variants(self, programs: Sequence[str], *, cancel: Event | None = None) -> list[Verdict]:
        """The verdicts on variants: each judge gets those that the ones before it let pass."""
        verdicts = self.judges[0].judge_variants(programs, cancel=cancel)
        for judge in self.judges[1:]:
            able = {Judgement.PASSED, Judgement.REFUSED}
            left = [number for number, verdict in enumerate(verdicts) if verdict.judgement in able]
            more = judge.judge_variants([programs[number] for number in left], cancel=cancel)
            for number, verdict in zip(left, more, strict=True):
                if verdict.judgement is not Judgement.REFUSED:
                    verdicts[number] = verdict
        return verdicts

    def standing(self, program: str, *, cancel: Event | None = None) -> StandingByTests | None:
        """The tests of all of them that a program fails."""
        parts = [judge.standing(program, cancel=cancel) for judge in self.judges]
        known = [part for part in parts if part is not None]
        if not known:
            return None
        return StandingByTests(
            JointJudge([part.judge for part in known]) if len(known) > 1 else known[0].judge,
            tuple(failure for part in known for failure in part.failures),
            any(part.failed for part in known),
            next((part.message for part in known if part.message), ""),
        )

    def recorded_calls(self, target: str, cancel: Event | None) -> Sequence[Any]:
        """The calls that the tests of all of them make."""
        return [call for judge in self.judges for call in judge.recorded_calls(target, cancel)]

    def reach(self, lines: range) -> HoleReach | None:
        """The coverage by the first of them that knows it."""
        return next(filter(None, (judge.reach(lines) for judge in self.judges)), None)

    @property
    def described(self) -> str:
        """Their descriptions, such as `1 test and 2 doctests`."""
        return " and ".join(judge.described for judge in self.judges)
