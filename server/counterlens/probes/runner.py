"""Runs probes, for every front end and every evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from threading import Event
from typing import Any, cast

from counterlens.errors import (
    Cancelled,
    CounterlensError,
    DataError,
    ModelError,
    OptionError,
    SourceError,
    UnscorableError,
    UnsteadyModelError,
)
from counterlens.languages.registry import title_of
from counterlens.metrics.table import Table
from counterlens.models.base import Capability, Model, ModelInfo
from counterlens.models.wrapped import UninstructedModel
from counterlens.probes.options import AskBy, ProbeOptions, PromptedOptions
from counterlens.probes.probe import Context, Probe, Target
from counterlens.probes.protocols import require_api, under
from counterlens.probes.record import Outcome, Record, RecordT, steady
from counterlens.probes.sanity import require_steady
from counterlens.syntax.functions import MODULE

AnyProbe = Probe[Any, Any]


class State(StrEnum):
    """The state of a probe run."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "not run"  # the reason names the missing requirement, or the failed check
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class ProbeRun:
    """One probe on some functions with one model, finished or not.

    Attributes:
        state: Its state. While it runs, there may already be records of some functions.
        reason: Why it was not run, with a remedy.
        model: The model under examination; None before it is open.
        records: The results, function by function, including functions that were left out.
    """

    probe: AnyProbe
    options: ProbeOptions
    state: State = State.WAITING
    reason: str = ""
    model: ModelInfo | None = None
    records: tuple[Record, ...] = ()

    @cached_property
    def probed(self) -> tuple[Record, ...]:
        """The records of functions that could be probed."""
        return tuple(record for record in self.records if record.probed)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The figures over the probed functions."""
        if not self.probed:
            return ()
        return under(self.options.chosen_protocol, self.probe.tables(self.probed, seed=self.options.seed))

    @cached_property
    def summary(self) -> str:
        """Its finding, in a sentence or two, or the reason why there is none."""
        return self.reason or (self.probe.summary(self.probed) if self.probed else "")

    @cached_property
    def left_out(self) -> Mapping[str, int]:
        """The numbers of functions, sites or answers that do not count, by reason, most frequent first."""
        reasons = Counter[str]()
        for record in self.records:
            reasons.update(record.left_out if record.probed else {record.reason: 1})
        return dict(sorted(reasons.items(), key=lambda counted: (-counted[1], counted[0])))


def run_probe(probe: AnyProbe, context: Context, target: Target, options: ProbeOptions) -> Record:
    """Probe one function; the record of one that cannot be probed, or has unsteady answers, has the reason.

    Raises:
        CounterlensError: another sanity check failed: figures would be meaningless.
        ModelError, SandboxError: the model or the sandbox failed, which is unrelated to the function.
        Cancelled: `context.cancel` was set.
    """
    context.steps.check()
    if isinstance(options, PromptedOptions) and options.ask_by is AskBy.TEXT:
        context = replace(context, model=UninstructedModel(context.model))
    if (watcher := context.interim) is not None:
        model = context.model

        def interim(interim_record: Record) -> None:
            watcher(identify(interim_record, probe, model.info, target, options))

        context = replace(context, interim=interim)
    try:
        record: Record = probe.run(context, target, options)
    except (SourceError, UnscorableError, UnsteadyModelError) as error:
        outcome = Outcome.UNSTEADY if isinstance(error, UnsteadyModelError) else Outcome.LEFT_OUT
        record = Record(outcome=outcome, reason=steady(error.message), hint=steady(error.hint or ""))
    return identify(record, probe, context.model.info, target, options)


def identify(
    record: RecordT, probe: AnyProbe, model: ModelInfo, target: Target, options: ProbeOptions
) -> RecordT:
    """The record with its probe, protocol, model and function filled in."""
    return replace(
        record,
        probe=probe.id,
        protocol=options.chosen_protocol,
        model=model.id,
        target=target.name,
        function=target.qualname,
        left_out={steady(reason): count for reason, count in record.left_out.items() if count},
    )


def require_one_language(languages: Iterable[str]) -> None:
    """Refuse several languages: figures cover a single one, because a model knows some better than others.

    Raises:
        DataError: there are several languages.
    """
    several = sorted(set(languages))
    if len(several) > 1:
        raise DataError(
            f"there is code in {' and in '.join(several)}, but figures cover one language",
            "Choose code in one language",
        )


def require_language(probe: AnyProbe, languages: Iterable[str]) -> None:
    """Refuse languages that a probe does not support.

    Raises:
        SourceError: the probe does not support one of them; the message has the reason.
    """
    for language in languages:
        if (reason := probe.refused_languages.get(language)) is not None:
            raise SourceError(f"the task {probe.id} is not for {title_of(language)}: {reason}")


def require_suited(probe: AnyProbe, targets: Sequence[Target], options: ProbeOptions) -> None:
    """Refuse functions none of which can be probed with these options, before a model is asked.

    Raises:
        SourceError: the probe does not support their language, or all lack something that it needs.
        OptionError: an option does not apply to any of them.
    """
    require_language(probe, {target.document.language for target in targets})
    refusal: CounterlensError | None = None
    for target in targets:
        try:
            _check_target(probe, target, options)
        except (SourceError, OptionError) as error:
            refusal = refusal or error
        else:
            return
    if isinstance(refusal, SourceError) and len(targets) > 1:
        none = f"the task {probe.id} is for none of the {len(targets)} functions: {refusal.message}"
        raise SourceError(none, refusal.hint)
    if refusal is not None:
        raise refusal


class _Unopened:
    """A stand-in for a model that is not loaded yet, with every capability."""

    def offers(self, _capability: Capability, *, cancel: Event | None = None) -> bool:
        return not (cancel and cancel.is_set())


UNOPENED = cast("Model", _Unopened())
"""The placeholder for `Probe.estimate`."""


def is_suited(probe: AnyProbe, target: Target, options: ProbeOptions) -> bool:
    """Whether a function gives prompts with these options, as far as can be told without running anything."""
    try:
        _check_target(probe, target, options)
        return probe.estimate(target, options, UNOPENED) > 0
    except (SourceError, OptionError):
        return False


def _check_target(probe: AnyProbe, target: Target, options: ProbeOptions) -> None:
    if target.qualname == MODULE and not probe.whole_programs:
        raise SourceError(
            f"the task {probe.id} is for functions, and {target.name} is a whole program",
            "Whole programs suit the tasks completion, repair, likelihood, confidence and execution",
        )
    probe.check_target(target, options)


def run_targets(
    probe: AnyProbe,
    context: Context,
    targets: Sequence[Target],
    options: ProbeOptions,
    *,
    update: Callable[[ProbeRun], None] = lambda _run: None,
) -> ProbeRun:
    """Probe some functions in order.

    Args:
        update: Called with the results so far, after each function but the last.

    Raises:
        DataError: the functions are in several languages.
        SourceError, OptionError: as `require_suited`, or the protocol is not for the model's prompt format.
        ModelError: the model does not offer what the probe needs.
        UnsteadyModelError: too many answers change if a question is repeated.
        And as `run_probe`.
    """
    require_one_language(target.document.language for target in targets)
    require_suited(probe, targets, options)
    require_api(options.chosen_protocol, context.model.info.api)
    missing = probe.missing_of(context.model, cancel=context.cancel)
    if missing is not None:
        raise ModelError(f"the task {probe.id} cannot be run: {missing}")
    run = ProbeRun(probe, options, State.RUNNING, model=context.model.info)
    for number, target in enumerate(targets):
        inside = replace(context, steps=context.steps.part(target.name, number, len(targets)))
        if not number or context.steps.has_time():
            record = run_probe(probe, inside, target, options)
        else:
            unasked = Record(outcome=Outcome.LEFT_OUT, reason="there was no time to ask about it")
            record = identify(unasked, probe, context.model.info, target, options)
        # The request may have shown further capabilities of the model.
        run = replace(run, records=(*run.records, record), model=context.model.info)
        last = number + 1 == len(targets)
        require_steady(run.records, ended=last)
        if not last:
            update(run)
    return replace(run, state=State.DONE)


def attempt(
    probe: AnyProbe,
    context: Context,
    targets: Sequence[Target],
    options: ProbeOptions,
    *,
    update: Callable[[ProbeRun], None] = lambda _run: None,
) -> ProbeRun:
    """Probe some functions as one of several probes: a failure becomes the state, except cancelling.

    Raises:
        Cancelled: `context.cancel` was set.
    """
    try:
        run = run_targets(probe, context, targets, options, update=update)
    except Cancelled:
        raise
    except CounterlensError as error:
        return ProbeRun(probe, options, State.FAILED, str(error), context.model.info)
    if not run.probed:
        reasons = dict.fromkeys(": ".join(filter(None, (r.reason, r.hint))) for r in run.records)
        return replace(run, state=State.FAILED, reason="; ".join(reasons))
    return run


def require_probed(run: ProbeRun) -> None:
    """Raise the reason if nothing was probed.

    Raises:
        SourceError: no function could be probed.
    """
    if run.records and not run.probed:
        first = run.records[0]
        if len(run.records) == 1:
            raise SourceError(first.reason, first.hint or None)
        reasons = "; ".join(f"{count} {reason}" for reason, count in list(run.left_out.items())[:3])
        raise SourceError(f"none of {len(run.records)} functions could be probed", reasons)
