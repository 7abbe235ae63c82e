"""Several versions of a function on the same inputs, each in a process of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from itertools import islice
from typing import TYPE_CHECKING, Any

from counterlens.judging.base import Setting
from counterlens.judging.comparing import Untestable
from counterlens.judging.versions import InputOutcomes, VersionOutcome, VersionRuns
from counterlens.python.judging.differential.inputs import Call
from counterlens.python.judging.differential.observed import scalars_of, texts_about
from counterlens.python.judging.differential.original import Original
from counterlens.python.judging.differential.planning import plan_study
from counterlens.python.judging.recording import CallRecord, Recorder
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

if TYPE_CHECKING:
    from counterlens.python.judging.differential.call_likeness import CallLikeness

_SECONDS = 2.0  # maximum seconds of one call
_MOST_STEPS = 40  # calls that are tried in place of one
_LIMITS = 3  # calls of a version that may reach a limit other than time


def run_versions(
    document: Document,
    function: Function,
    programs: Sequence[str],
    setting: Setting,
    recorded: Sequence[Any],
    texts: Sequence[str],
) -> VersionRuns | str:
    """Run versions of a function on the same inputs; see `judging.languages.run_versions`."""
    more = [*texts, *texts_about(document, function.qualname)]
    planned = plan_study(
        document,
        function.qualname,
        setting,
        more=more,
        recorded=recorded,
        versions=programs,
    )
    if isinstance(planned, Untestable):
        return planned.reason
    studied = planned.result()
    given = {call.written(""): call for call in planned.plan.seen}
    drawn = {call.written(""): call for call in studied.calls} if isinstance(studied, Original) else {}
    if isinstance(studied, Untestable) and not given:
        return studied.reason
    # Imported here: it uses Hypothesis, whose import is a large part of a start.
    from counterlens.python.judging.differential.call_likeness import CallLikeness

    likeness = CallLikeness(list(given.values()), planned.plan.shapes.hints) if given else None
    recorder = studied.recorder if isinstance(studied, Original) else planned.recorder
    bench = _Bench((document.text, *programs), recorder, setting, likeness)
    calls = list((given | drawn).values())
    inputs, troubles = bench.run(calls, range(len(programs) + 1), given=len(given))
    return VersionRuns(inputs, troubles, bench)


class _Bench:
    """Runs versions on inputs.

    Args:
        programs: The whole file in each version; the first is the document itself.
        likeness: What the given calls have in common; None if there are none.
    """

    def __init__(
        self, programs: Sequence[str], recorder: Recorder, setting: Setting, likeness: CallLikeness | None
    ) -> None:
        self._programs, self._recorder, self._setting = programs, recorder, setting
        self._likeness = likeness
        self._calls: dict[str, Call] = {}

    def run(
        self, calls: Sequence[Call], versions: Sequence[int], *, given: int = 0
    ) -> tuple[tuple[InputOutcomes, ...], tuple[str | None, ...]]:
        """What versions do with calls, of which the first ones are given; and why one could not be called."""
        runs = [_outcomes(self._recorder, self._programs[at], calls, self._setting) for at in versions]
        self._calls |= {call.written(self._recorder.target): call for call in calls}
        inputs = tuple(
            InputOutcomes(
                call.written(self._recorder.target),
                at < given,
                _grouped([run[at] for run, _ in runs]),
                at < given or _is_like_given(call, self._likeness),
            )
            for at, call in enumerate(calls)
        )
        return inputs, tuple(trouble for _, trouble in runs)

    def simpler(self, call: str) -> Sequence[str]:
        """Like `FurtherInputs.simpler`."""
        call_object = self._calls.get(call)
        steps = call_object.simpler() if call_object is not None else ()
        fitting = (step for step in steps if _is_like_given(step, self._likeness) is not False)
        simplest = sorted(islice(fitting, _MOST_STEPS), key=lambda step: step.size)
        more = {step.written(self._recorder.target): step for step in simplest}
        self._calls |= more
        return list(more)

    def outcomes(self, calls: Sequence[str], versions: Sequence[int]) -> tuple[InputOutcomes, ...]:
        """Like `FurtherInputs.outcomes`."""
        return self.run([self._calls[call] for call in calls], versions)[0] if calls else ()


def _is_like_given(call: Call, likeness: CallLikeness | None) -> bool | None:
    """Whether a drawn call is like the given ones; None if none is given.

    Where none is given, one with an argument of which docstrings seldom speak is like none: empty, a text
    that begins or ends with a blank or is not ASCII, NaN, an infinity.
    """
    if likeness is not None:
        return likeness.departure(call) is None
    values = [*call.positional, *(value for _, value in call.named)]
    if any(isinstance(value, Sized) and not len(value) for value in values):
        return False
    return None if all(_is_usual(scalar) for value in values for scalar in scalars_of(value)) else False


def _is_usual(scalar: object) -> bool:
    if isinstance(scalar, float):
        return math.isfinite(scalar)
    return not isinstance(scalar, str) or (scalar.isascii() and scalar.strip() == scalar)


def _outcomes(
    recorder: Recorder, program: str, calls: Sequence[Call], setting: Setting
) -> tuple[list[CallRecord | str], str | None]:
    """What a program does with each call, or why that is unknown; and why it could not be called.

    Each call is made twice, in two orders. A call that recurs too deeply, or the like, is not made again, and
    the others are, so that a version which fails so for -1 still counts for 5. A call without an end takes
    too long for that: nothing is made after it.
    """
    limited: dict[int, CallRecord | str] = {}
    for _ in range(_LIMITS):
        left = [at for at in range(len(calls)) if at not in limited]
        order = [*left, *reversed(left)]
        tasks = [calls[at].task() for at in order]
        recording = recorder.record(program, tasks, seconds=_SECONDS, stop=True, cancel=setting.cancel)
        made = list(zip(order, recording.observations, strict=False))
        if not made or made[-1][1].limit in {None, "time"}:
            break
        limited |= dict([made.pop()])
    outcomes: dict[int, CallRecord | str] = {}
    for at, record in made:
        first = outcomes.get(at, record)
        same = first is record or (isinstance(first, CallRecord) and first.like(record))
        outcomes[at] = first if same else "has two outcomes"
    outcomes |= limited
    trouble = str(recording.trouble) if recording.trouble is not None else None
    return [outcomes.get(at, "was not run") for at in range(len(calls))], trouble


def _grouped(seen: Sequence[CallRecord | str]) -> tuple[VersionOutcome, ...]:
    """The outcomes of all versions for one input."""
    outcomes: list[VersionOutcome] = []
    for at, record in enumerate(seen):
        if isinstance(record, str):
            outcomes.append(VersionOutcome(record, False, None))
            continue
        alike = (other for other in range(at) if _is_like(seen[other], record))
        group = next(alike, at) if record.comparable else None
        outcomes.append(VersionOutcome(record.ending, record.returned, group))
    return tuple(outcomes)


def _is_like(before: CallRecord | str, record: CallRecord) -> bool:
    return isinstance(before, CallRecord) and before.comparable and before.like(record)
