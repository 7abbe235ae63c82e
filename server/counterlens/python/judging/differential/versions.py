"""Several versions of a function on the same inputs, each in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from counterlens.judging.base import Setting
from counterlens.judging.comparing import Untestable
from counterlens.judging.versions import InputOutcomes, VersionOutcome, VersionRuns
from counterlens.python.judging.differential.inputs import Call
from counterlens.python.judging.differential.observed import texts_about
from counterlens.python.judging.differential.original import Original
from counterlens.python.judging.differential.planning import plan_study
from counterlens.python.judging.recording import CallRecord, Recorder
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

_SECONDS = 2.0  # maximum seconds of one call


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
        cancel=setting.cancel,
    )
    if isinstance(planned, Untestable):
        return planned.reason
    studied = planned.result()
    given = {call.written(""): call for call in planned.plan.seen}
    drawn = {call.written(""): call for call in studied.calls} if isinstance(studied, Original) else {}
    if isinstance(studied, Untestable) and not given:
        return studied.reason
    calls = list((given | drawn).values())
    recorder = studied.recorder if isinstance(studied, Original) else planned.recorder
    runs = [_outcomes(recorder, program, calls, setting) for program in (document.text, *programs)]
    # Imported here: it uses Hypothesis, whose import is a large part of a start.
    from counterlens.python.judging.differential.call_likeness import CallLikeness

    likeness = CallLikeness(list(given.values()), planned.plan.shapes.hints) if given else None
    inputs = tuple(
        InputOutcomes(
            call.written(recorder.target),
            at < len(given),
            _grouped([run[at] for run, _ in runs]),
            at < len(given) or (None if likeness is None else likeness.departure(call) is None),
        )
        for at, call in enumerate(calls)
    )
    return VersionRuns(inputs, tuple(trouble for _, trouble in runs))


def _outcomes(
    recorder: Recorder, program: str, calls: Sequence[Call], setting: Setting
) -> tuple[list[CallRecord | str], str | None]:
    """What a program does with each call, or why that is unknown; and why it could not be called.

    Each call is made twice, in two orders. The first one that reaches a limit is the last.
    """
    tasks = [call.task() for call in [*calls, *reversed(calls)]]
    recording = recorder.record(program, tasks, seconds=_SECONDS, stop=True, cancel=setting.cancel)
    seen: list[CallRecord | str] = list(recording.observations[: len(calls)])
    for back, again in enumerate(recording.observations[len(calls) :], 1):
        first = seen[-back]
        if isinstance(first, CallRecord) and not first.like(again):
            seen[-back] = "has two outcomes"
    seen += ["was not run"] * (len(calls) - len(seen))
    return seen, str(recording.trouble) if recording.trouble is not None else None


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
