"""The judge by differential execution, with the smallest input on which the results differ."""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Event

from counterlens.attribution.base import Evidence, Judgement, Strength, Verdict
from counterlens.attribution.differential.inputs import Call
from counterlens.attribution.differential.original import SECONDS, STEPS, Original, Untestable
from counterlens.attribution.recording import CallRecord
from counterlens.counting import plural

ID = "differential"
ENOUGH_INPUTS, ENOUGH_REACH = 30, 0.9  # with fewer inputs or branches the evidence is weak
_CANDIDATE = 2.0  # seconds of one call of a candidate
_TRIES, _TURNS, _PATIENCE = 80, 12, 6.0  # simpler inputs at a time, how often, and for how many seconds
_JUDGEMENTS = {"invalid": Judgement.INVALID, "timed out": Judgement.TIMED_OUT}


class DifferentialJudge:
    """Compares a program with the original, call by call.

    Original and candidate never share a process, and results are compared here: a candidate that forges its
    own results would have to know the right ones.
    """

    attribution = ID

    def __init__(self, original: Original) -> None:
        self.original = original

    @property
    def tests(self) -> int:
        """How many inputs there are."""
        return len(self.original.calls)

    @property
    def strength(self) -> Strength:
        """Moderate, or weak if few inputs were found or many branches missed."""
        enough = self.tests >= ENOUGH_INPUTS and self.original.reach.share >= ENOUGH_REACH
        return Strength.MODERATE if enough else Strength.WEAK

    @property
    def basis(self) -> str:
        """How many inputs, and which part of the original they reach."""
        text = f"{self.tests} inputs reach {self.original.reach} of the original"
        return text if self.strength is Strength.MODERATE else f"{text}: weak evidence"

    @property
    def described(self) -> str:
        """The judge, with its number of cases and its strength."""
        reach = self.original.reach
        how = f"differential execution, {reach} reached: {self.strength} evidence"
        return f"{plural(self.tests, 'input')} ({how})"

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Compare a program with the original; see `Judge.judge`."""
        started = time.monotonic()
        original = self.original
        recording = original.recorder.record(
            program, [call.task() for call in original.calls], seconds=_CANDIDATE, stop=True, cancel=cancel
        )
        seen, trouble = recording.observations, recording.trouble
        pairs = list(zip(original.calls, original.observations, seen, strict=False))
        apart = [(call, before, other) for call, before, other in pairs if not before.like(other)]
        evidence: Evidence
        if apart:
            call, before, other = min(apart, key=lambda each: (not each[1].returned, each[0].size))
            if not other.limit:
                call, before, other = self._smallest(program, call, before, other, cancel)
            judgement = Judgement.TIMED_OUT if other.limit in {"time", "steps"} else Judgement.FAILED
            evidence = self._difference(call, before, other, len(apart), len(pairs))
        elif trouble is not None:
            judgement = _JUDGEMENTS.get(trouble.kind, Judgement.FAILED)
            running = original.calls[len(seen)] if trouble.kind in {"ended", "timed out"} and seen else None
            evidence = self._evidence(len(seen), self._written(running), str(trouble))
        else:
            judgement = Judgement.PASSED
            evidence = self._evidence(len(seen), None, self.basis)
        return Verdict(judgement, evidence, time.monotonic() - started)

    def _difference(
        self, call: Call, before: CallRecord, other: CallRecord, apart: int, tried: int
    ) -> Evidence:
        was, now = before.differences(other)
        how_many = f"{apart} of {tried} inputs tell them apart" + (
            ", this is the smallest" if tried > 1 else ""
        )
        return self._evidence(
            tried, self._written(call), f"original: {_brief(was)}\nthis one: {_brief(now)}\n{how_many}"
        )

    def _evidence(self, tests: int, failed: str | None, message: str) -> Evidence:
        return Evidence(
            ID, tests, failed, message, self.strength if message == self.basis else Strength.STRONG
        )

    def _written(self, call: Call | None) -> str | None:
        return call.written(self.original.recorder.target) if call else None

    def _smallest(
        self, program: str, call: Call, one: CallRecord, other: CallRecord, cancel: Event | None
    ) -> tuple[Call, CallRecord, CallRecord]:
        """The smallest input found that distinguishes them, starting from one."""
        until = time.monotonic() + _PATIENCE
        best = (call, one, other)
        for _ in range(_TURNS):
            simpler = sorted(
                {each.written(""): each for each in best[0].simpler() if each.size < best[0].size}.values(),
                key=lambda each: each.size,
            )[:_TRIES]
            found = self._apart(program, simpler, best[1].returned, cancel) if simpler else []
            if not found:
                break
            best = min(found, key=lambda each: each[0].size)
            if time.monotonic() > until:
                break
        return best

    def _apart(
        self, program: str, calls: Sequence[Call], returning: bool, cancel: Event | None
    ) -> list[tuple[Call, CallRecord, CallRecord]]:
        recorder, tasks = self.original.recorder, [call.task() for call in calls]
        ours = recorder.record(self.original.text, tasks, seconds=SECONDS, steps=STEPS, cancel=cancel)
        theirs = recorder.record(program, tasks, seconds=SECONDS, stop=True, cancel=cancel)
        return [
            (call, before, other)
            for call, before, other in zip(calls, ours.observations, theirs.observations, strict=False)
            if before.comparable and before.returned >= returning
            and not other.limit and not before.like(other)
            and before.exception not in {"TypeError", "AttributeError"}
        ]  # fmt: skip


def judge_of(found: Original | Untestable) -> DifferentialJudge | None:
    """The judge if there can be one."""
    return DifferentialJudge(found) if isinstance(found, Original) else None


def _brief(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:157]}..."
