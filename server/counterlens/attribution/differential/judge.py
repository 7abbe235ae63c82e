"""The judge by differential execution, which reports the smallest input found with different results."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event

from counterlens.attribution.base import Evidence, Judgement, Strength, Verdict
from counterlens.attribution.differential.comparing import ID, ComparingJudge, Distinction, Untestable
from counterlens.attribution.differential.inputs import Call
from counterlens.attribution.differential.original import SECONDS, STEPS, Original
from counterlens.attribution.recording import CallRecord, Recording

_CANDIDATE = 2.0  # seconds for one call of a candidate
_TRIES, _TURNS, _PATIENCE = 80, 12, 6.0  # simplification: inputs per round, rounds, seconds
_JUDGEMENTS = {"invalid": Judgement.INVALID, "timed out": Judgement.TIMED_OUT}


@dataclass(frozen=True, slots=True)
class Counterexample:
    """An input on which a program behaves differently from the original, and both results."""

    call: Call
    original: CallRecord
    mutant: CallRecord


class DifferentialJudge(ComparingJudge):
    """Compares a Python program with the original.

    Original and candidate never share a process, and results are compared here, outside of the sandbox: a
    candidate that forges its own results would have to know the right ones.
    """

    def __init__(self, original: Original) -> None:
        self.original = original

    @property
    def tests(self) -> int:
        """The number of inputs."""
        return len(self.original.calls)

    @property
    def share(self) -> float:
        """The share of the original's branches that the inputs reach."""
        return self.original.reach.share

    @property
    def reached(self) -> str:
        """The number of branches that the inputs reach, or of lines."""
        return str(self.original.reach)

    def difference(self, program: str, *, cancel: Event | None = None) -> Distinction | None:
        """The smallest input found that distinguishes a program from the original; None if none does.

        Raises:
            Cancelled: `cancel` was set.
        """
        found = self._compared(program, self._recorded(program, cancel), cancel)
        return found and found[0]

    def first_counterexample(self, program: str, *, cancel: Event | None = None) -> Counterexample | None:
        """The smallest input that distinguishes a program; if possible both end, and the original returns."""
        observations = self._recorded(program, cancel).observations
        pairs = zip(self.original.calls, self.original.observations, observations, strict=False)
        apart = [Counterexample(*each) for each in pairs if not each[1].like(each[2])]

        def order(example: Counterexample) -> tuple[object, ...]:
            return bool(example.mutant.limit), not example.original.returned, example.call.size

        return min(apart, key=order, default=None)

    def smallest_counterexample(
        self, program: str, first: Counterexample, *, cancel: Event | None = None
    ) -> Counterexample:
        """The smallest input found that distinguishes a program, by simplifying one that does."""
        if first.mutant.limit:
            return first
        return Counterexample(*self._smallest(program, first.call, first.original, first.mutant, cancel))

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Compare a program with the original; see `Judge.judge`."""
        started = time.monotonic()
        recording = self._recorded(program, cancel)
        seen, trouble = recording.observations, recording.trouble
        found = self._compared(program, recording, cancel)
        evidence: Evidence
        if found is not None:
            difference, other = found
            judgement = Judgement.TIMED_OUT if other.limit in {"time", "steps"} else Judgement.FAILED
            evidence = self._evidence(difference.tried, difference.call, difference.comparison_text)
        elif trouble is not None:
            judgement = _JUDGEMENTS.get(trouble.kind, Judgement.FAILED)
            running = (
                self.original.calls[len(seen)] if trouble.kind in {"ended", "timed out"} and seen else None
            )
            evidence = self._evidence(len(seen), self._written(running), str(trouble))
        else:
            judgement = Judgement.PASSED
            evidence = self._evidence(len(seen), None, self.basis)
        return Verdict(judgement, evidence, time.monotonic() - started)

    def _recorded(self, program: str, cancel: Event | None) -> Recording:
        tasks = [call.task() for call in self.original.calls]
        return self.original.recorder.record(program, tasks, seconds=_CANDIDATE, stop=True, cancel=cancel)

    def _compared(
        self, program: str, recording: Recording, cancel: Event | None
    ) -> tuple[Distinction, CallRecord] | None:
        """The smallest input found that distinguishes them, and the program's result for it."""
        original = self.original
        pairs = list(zip(original.calls, original.observations, recording.observations, strict=False))
        apart = [(call, before, other) for call, before, other in pairs if not before.like(other)]
        if not apart:
            return None
        call, before, other = min(apart, key=lambda each: (not each[1].returned, each[0].size))
        if not other.limit:
            call, before, other = self._smallest(program, call, before, other, cancel)
        was, now = before.differences(other)
        written = call.written(original.recorder.target)
        return Distinction(written, was, now, len(apart), len(pairs)), other

    def _evidence(self, tests: int, failed: str | None, message: str) -> Evidence:
        return Evidence(
            ID, tests, failed, message, self.strength if message == self.basis else Strength.STRONG
        )

    def _written(self, call: Call | None) -> str | None:
        return call.written(self.original.recorder.target) if call else None

    def _smallest(
        self, program: str, call: Call, one: CallRecord, other: CallRecord, cancel: Event | None
    ) -> tuple[Call, CallRecord, CallRecord]:
        """The smallest input found that distinguishes them, by simplifying the given one."""
        until = time.monotonic() + _PATIENCE
        best = (call, one, other)
        for _ in range(_TURNS):
            simpler = sorted(
                {each.written(""): each for each in best[0].simpler() if each.size < best[0].size}.values(),
                key=lambda each: each.size,
            )[:_TRIES]
            found = self._distinguishing_calls(program, simpler, best[1].returned, cancel) if simpler else []
            if not found:
                break
            best = min(found, key=lambda each: each[0].size)
            if time.monotonic() > until:
                break
        return best

    def _distinguishing_calls(
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
    """The judge, if the function can be judged."""
    return DifferentialJudge(found) if isinstance(found, Original) else None
