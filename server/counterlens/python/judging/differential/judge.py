"""The judge by differential execution, which reports the smallest input found with different results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event

from counterlens.judging.base import Evidence, Judgement
from counterlens.judging.comparing import (
    ID,
    ComparingJudge,
    DifferentialOutcome,
    Distinction,
    smallest,
)
from counterlens.python.judging.differential.inputs import Call
from counterlens.python.judging.differential.original import SECONDS, STEPS, Original
from counterlens.python.judging.recording import CallRecord, Recording

_CANDIDATE = 2.0  # seconds for one call of a candidate
_ENDLESS = {"time", "steps"}
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
        self.covered = frozenset(method for call in original.calls for method, _ in call.steps)

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

    @property
    def returning(self) -> int:
        """The number of inputs on which the original returns."""
        return sum(seen.returned for seen in self.original.observations)

    def outcome(self, program: str, cancel: Event | None) -> DifferentialOutcome:
        """Observe a program on the inputs; see `ComparingJudge`."""
        recording = self._recorded(program, cancel)
        apart = self._counterexamples(recording)
        smaller = self.original.of_tests_size()
        if smaller and _is_endless(recording) and all(each.mutant.limit for each in apart):
            # A right program may be slower. It must end on inputs of the tests' size, and on a larger one:
            # a program that only knows the inputs of the tests would not.
            outcome = DifferentialJudge(smaller).outcome(program, cancel)
            return replace(outcome, left_out=self.tests - len(smaller.calls))
        if apart:
            first = min(apart, key=lambda each: (not each.original.returned, each.call.size))
            example = self.smallest_counterexample(program, first, cancel=cancel)
            difference = self._distinction(example, apart, recording)
            ended = example.mutant.limit not in _ENDLESS
            if self.original.recorder.seeded:
                why = f"it draws random numbers; with the same seed, it differs on {difference.call}"
                return DifferentialOutcome(Judgement.REFUSED, Evidence(ID, difference.tried, None, why))
            evidence = Evidence(ID, difference.tried, difference.call, difference.comparison_text)
            return DifferentialOutcome(
                Judgement.FAILED if ended else Judgement.TIMED_OUT, evidence, difference
            )
        if recording.trouble is not None:
            judgement = _JUDGEMENTS.get(recording.trouble.kind, Judgement.FAILED)
            seen = len(recording.observations)
            return DifferentialOutcome(
                judgement, Evidence(ID, seen, self._running(recording), str(recording.trouble))
            )
        return DifferentialOutcome(Judgement.PASSED, Evidence(ID, self.tests, None, self.basis))

    def first_counterexample(self, program: str, *, cancel: Event | None = None) -> Counterexample | None:
        """The smallest input that distinguishes a program; if possible both end, and the original returns."""

        def order(example: Counterexample) -> tuple[object, ...]:
            return bool(example.mutant.limit), not example.original.returned, example.call.size

        return min(self._counterexamples(self._recorded(program, cancel)), key=order, default=None)

    def smallest_counterexample(
        self, program: str, first: Counterexample, *, cancel: Event | None = None
    ) -> Counterexample:
        """The smallest input found that distinguishes a program, by simplifying one that does."""
        if first.mutant.limit:
            return first
        returned = first.original.returned
        return Counterexample(
            *smallest(
                (first.call, first.original, first.mutant),
                lambda calls: self._distinguishing_calls(program, calls, returned, cancel),
            )
        )

    def _running(self, recording: Recording) -> str | None:
        """The call that was running when a program ended; None if none was."""
        seen = recording.observations
        ended = recording.trouble is not None and recording.trouble.kind in {"ended", "timed out"}
        return self._twice[len(seen)].written(self.original.recorder.target) if ended and seen else None

    @property
    def _twice(self) -> list[Call]:
        """Each input twice, the last one first: a state that a program keeps shows."""
        return [*reversed(self.original.calls), *self.original.calls]

    def _recorded(self, program: str, cancel: Event | None) -> Recording:
        tasks = [call.task() for call in self._twice]
        return self.original.recorder.record(program, tasks, seconds=_CANDIDATE, stop=True, cancel=cancel)

    def _counterexamples(self, recording: Recording) -> list[Counterexample]:
        """The runs in which a program behaves differently; each input runs twice."""
        before = [*reversed(self.original.observations), *self.original.repeated]
        runs = zip(self._twice, before, recording.observations, strict=False)
        return [Counterexample(*run) for run in runs if not run[1].like(run[2])]

    def _distinction(
        self, example: Counterexample, apart: Sequence[Counterexample], recording: Recording
    ) -> Distinction:
        was, now = example.original.differences(example.mutant)
        written = example.call.written(self.original.recorder.target)
        tried = min(len(recording.observations), self.tests)
        distinct = len({each.call.written("") for each in apart})
        returned = not example.original.ends_like(example.mutant)
        return Distinction(written, was, now, distinct, tried, not example.original.returned, returned)

    def _distinguishing_calls(
        self, program: str, calls: Sequence[Call], returning: bool, cancel: Event | None
    ) -> list[tuple[Call, CallRecord, CallRecord]]:
        domain, recorder = self.original.domain, self.original.recorder
        calls = [call for call in calls if domain is None or domain.contains(call)]
        tasks = [call.task() for call in calls]
        ours = recorder.record(self.original.text, tasks, seconds=SECONDS, steps=STEPS, cancel=cancel)
        theirs = recorder.record(program, tasks, seconds=SECONDS, stop=True, cancel=cancel)
        return [
            (call, before, other)
            for call, before, other in zip(calls, ours.observations, theirs.observations, strict=False)
            if before.comparable and before.returned >= returning
            and not other.limit and not before.like(other)
            and before.outside is None and before.exception not in {"TypeError", "AttributeError"}
        ]  # fmt: skip


def _is_endless(recording: Recording) -> bool:
    """Whether a program was stopped because of its time."""
    trouble, last = recording.trouble, recording.observations[-1:]
    return bool(trouble and trouble.kind == "timed out") or any(seen.limit in _ENDLESS for seen in last)
