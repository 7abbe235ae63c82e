"""A run: its plan is processed into its folder, from the start or resumed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from threading import Event

from counterlens.errors import Cancelled, CounterlensError, DataError, UnsteadyModelError
from counterlens.evaluation.decided import excess_of
from counterlens.evaluation.engines.base import EvaluationEngine
from counterlens.evaluation.engines.gathering import GatheringModel
from counterlens.evaluation.engines.registry import Finished, in_flight, run_local
from counterlens.evaluation.manifest import canonical, differences, find_out, manifest
from counterlens.evaluation.order import in_random_order
from counterlens.evaluation.plan import Plan
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.spending import Spending
from counterlens.evaluation.store import Item, Store, StoredRecord
from counterlens.evaluation.time_left import TimeLeft
from counterlens.evaluation.work import opened_encoder, perform
from counterlens.models.base import ASKED, Capability, Model
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.local.model import LocalModel
from counterlens.models.sentences import ModelSentences
from counterlens.models.speed import measure_speed, noted_speed
from counterlens.probes.record import Outcome
from counterlens.probes.sanity import require_steady
from counterlens.sandbox.recalling import Recollection, recalling

MOST_FAILURES = 3
"""Number of items that may fail because of the model or the sandbox before a run stops."""
_ANSWER_BYTES = 1 << 50  # a response of a run is never dropped

Advance = Callable[[int, int, str], None]
"""Called with (finished items, all items, the name of the last one)."""
Notice = Callable[[str], None]
"""Called with the current step of an item in progress, on its thread."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended.

    Attributes:
        done: Number of items with a record.
        total: Number of items of the plan.
        failed: Errors of items without a record, by id: of the model or the sandbox, not of the function.
        over: A message that the budget is spent; empty if it is not.
    """

    done: int
    total: int
    failed: dict[str, CounterlensError]
    over: str = ""


@dataclass(frozen=True, slots=True)
class _Going:
    """The state of a run in progress, see `Run.go`."""

    cancel: Event
    advance: Advance | None
    notice: Notice | None
    remaining: TimeLeft | None
    failed: dict[str, CounterlensError]
    spending: Spending


class Run:
    """One run in its folder, which it holds locked.

    Args:
        store: The folder, open for writing.
        plan: The plan; the store contains it too.
        engine: The engine of its models and programs.
    """

    def __init__(self, store: Store, plan: Plan, engine: EvaluationEngine) -> None:
        self._store, self._plan, self._engine = store, plan, engine
        self._observed = Recollection()

    @classmethod
    def begin(cls, store: Store, plan: Plan, engine: EvaluationEngine) -> Run:
        """Start a new run.

        Raises:
            DataError: the folder already has a run.
        """
        if store.settings is not None:
            raise holds_one(store)
        store.begin(plan.settings, plan.items)
        return cls(store, plan, engine)

    @classmethod
    def resume(cls, store: Store, plan: Plan, engine: EvaluationEngine) -> Run:
        """Open the run of a folder, to continue it.

        Raises:
            DataError: the data or the code has changed since the run began.
        """
        before, now = store.items, list(plan.items)
        if before != now:
            changed = {item.problem for item in {*before} ^ {*now}} or {"their order"}
            names = ", ".join(sorted(changed)[:3]) + (", …" if len(changed) > 3 else "")
            raise DataError(
                f"the data has changed since the run in {store.folder} was started: {names}",
                "Figures of two versions do not belong in one table: start a new run in another folder",
            )
        return cls(store, plan, engine)

    def go(
        self,
        cancel: Event,
        advance: Advance | None = None,
        notice: Notice | None = None,
        remaining: TimeLeft | None = None,
    ) -> Ended:
        """Process the remaining items.

        Args:
            cancel: Set to stop; finished items are kept.
            advance: Called when an item is finished.
            notice: Called with the current step of each item.
            remaining: Follows the items.

        Raises:
            ModelError: a model cannot be opened, or lacks a required capability.
            DataError: a model, or the version of something, has changed since the run began.
            CounterlensError: too many items failed; the message is that of the last failure.
            Cancelled: `cancel` was set.
        """
        failed: dict[str, CounterlensError] = {}
        budget, spending = Budget(self._plan.settings), Spending(self._store, self._plan.settings)
        going = _Going(cancel, advance, notice, remaining, failed, spending)
        for spec in self._plan.settings.models:
            done = self._store.done
            own = [item for item in self._plan.items if item.model == spec]
            ordered = in_random_order(own, self._plan.settings, *([remaining.work] if remaining else []))
            left = [item for item in ordered if item.position not in done]
            left = budget.same(left, [item for item in self._plan.items if item.position in done])
            if not left or self._unsteady(spec, failed):
                continue
            answers = AnswerStore(self._store.answers, limit=_ANSWER_BYTES)
            try:
                undecided = filter(self._is_undecided, budget.begun(left, spec))
                self._ask(spec, undecided, answers, going)
            finally:
                answers.close()
            self._unsteady(spec, failed, ended=True)
        return Ended(len(self._store.done), len(self._plan.items), failed, spending.over)

    def _ask(self, spec: str, items: Iterator[Item], answers: AnswerStore, going: _Going) -> None:
        """Ask one model until its items, its time or its share of the budget are used up."""
        settings, spending = self._plan.settings, going.spending
        opening = time.perf_counter()
        with self._engine.open(spec, settings) as model, opened_encoder(settings, answers) as encoder:
            self._keep_speed(spec, model, time.perf_counter() - opening, going)
            circumstances = self._circumstances(spec, model, encoder)
            spending.begin(spec, model)
            begun = takewhile(lambda _: spending.within(), items)
            # Items that are in progress when the time is over are finished, and exceed it.
            most = self._engine.programs if settings.minutes else in_flight(model, self._engine)
            done = len(self._store.done)
            gathers = isinstance(model, LocalModel) and most >= model.together
            gathering = GatheringModel(model)
            asked = CachedModel(gathering if gathers else model, answers)
            perform = gathering.counted(partial(self._perform_followed, going, asked, encoder))

            def allowed() -> int:
                return spending.affordable(len(self._store.done) - done, most)

            try:
                # Closed before the model is, whatever happens here: its threads still use it.
                with closing(run_local(begun, perform, going.cancel, most, allowed)) as outcomes:
                    for finished in outcomes:
                        spending.record_usage()
                        if finished.record is None:
                            self._note(finished, going.failed)
                            continue
                        self._store.append(
                            finished.item, replace(finished.record, manifest=circumstances(model))
                        )
                        if going.advance:
                            label = ", ".join(filter(None, (finished.item.problem, spending.usage_text)))
                            going.advance(len(self._store.done), len(self._plan.items), label)
                        unsteady = finished.record.record.outcome is Outcome.UNSTEADY
                        if unsteady and self._unsteady(spec, going.failed):
                            break
            finally:
                spending.record_usage()

    def _is_undecided(self, item: Item) -> bool:
        """Whether more functions are wanted from the model of an item in its task."""
        if not self._plan.settings.until_decided:
            return True
        plan = self._plan
        known = excess_of(plan.settings, item.model, item.task, plan.items, self._store.records())
        return known is None or not known.decided

    def _keep_speed(self, spec: str, model: Model, opening: float, going: _Going) -> None:
        """Store the speed of a local model, which is measured if that was never done on this machine."""
        completes = isinstance(model, LocalModel) and model.offers(Capability.COMPLETE)
        if not isinstance(model, LocalModel) or not completes or self._store.speeds([spec]):
            return
        speed = noted_speed(model.info.identity)
        if speed is None or not speed.first_token:  # an earlier version did not measure this
            if going.notice:
                going.notice(f"measuring the speed of {spec}")
            speed = measure_speed(model, opening, pid=model.pid, cancel=going.cancel)
        if not speed.disturbed:
            self._store.keep_speed(spec, speed)
        elif going.notice:
            going.notice(f"other programs use {speed.others:.0%} of the processors: no speed is kept")

    def _unsteady(self, spec: str, failed: dict[str, CounterlensError], *, ended: bool = False) -> bool:
        """Whether too many answers of a model are unsteady, so that it gets no more requests."""
        for task in self._plan.settings.tasks:
            own = [
                (item, stored.record)
                for item, stored in self._store.records()
                if (item.model, item.task) == (spec, task)
            ]
            try:
                require_steady([record for _, record in own], ended=ended)
            except UnsteadyModelError as error:
                first = next(item for item, record in own if record.outcome is Outcome.UNSTEADY)
                failed[first.id] = error
                return True
        return False

    @staticmethod
    def _note(finished: Finished, failed: dict[str, CounterlensError]) -> None:
        """Record a failed item; raise if too many have failed, or if it was cancelled."""
        error = finished.error or CounterlensError("it failed")
        if isinstance(error, Cancelled):
            raise error
        failed[finished.item.id] = error
        if len(failed) >= MOST_FAILURES:
            raise error

    def _perform_followed(
        self, going: _Going, model: Model, encoder: ModelSentences | None, item: Item
    ) -> StoredRecord:
        """Call `_perform`, and follow it for the remaining time."""
        with nullcontext() if going.remaining is None else going.remaining.following(item):
            return self._perform(model, encoder, going.cancel, going.notice, item)

    def _perform(
        self,
        model: Model,
        encoder: ModelSentences | None,
        cancel: Event,
        notice: Notice | None,
        item: Item,
    ) -> StoredRecord:
        if cancel.is_set():
            raise Cancelled

        def progress(what: str, done: int, total: int) -> None:
            if notice is not None:
                notice(f"{item.problem}: {what}{f', {done} of {total}' if total > 1 else ''}")

        started = time.monotonic()
        target, sandbox = self._plan.target(item), self._engine.sandbox
        settings = self._plan.settings
        with recalling(self._observed):
            record = perform(
                settings, item.task, target, model, sandbox, cancel, encoder=encoder, progress=progress
            )
        return StoredRecord(record, round(time.monotonic() - started, 3))

    def _circumstances(
        self, spec: str, model: Model, encoder: ModelSentences | None
    ) -> Callable[[Model], str]:
        """Return a function for the digest of a model's manifest, which is stored when a record needs it.

        The request format of an endpoint is known only after its first response, so it is checked each time.
        """
        find_out(self._plan, model)
        document = manifest(self._plan, spec, model.info, encoder)
        known = {
            digest: before
            for digest, before in self._store.manifests.items()
            if before["model"]["asked_as"] == spec
        }
        for before in known.values():
            changed = differences(before, document)
            if changed:
                raise DataError(
                    f"the run was started under different circumstances: {'; '.join(changed[:3])}",
                    "Records of both do not belong in one table: start a new run in another folder",
                )
        digests = {before["model"]["details"].get(ASKED): digest for digest, before in known.items()}

        def kept(model: Model) -> str:
            asked = dict(model.info.details).get(ASKED)
            if asked not in digests:
                document["model"]["details"] = {
                    **document["model"]["details"],
                    **({} if asked is None else {ASKED: asked}),
                }
                digests[asked], text = canonical(document)
                self._store.keep_manifest(digests[asked], text)
            return digests[asked]

        return kept


def holds_one(store: Store) -> DataError:
    """The error about a folder that already has a run."""
    where: Path = store.folder
    return DataError(
        f"{where} already contains a run ({len(store.done)} of {len(store.items)} done)",
        f"Resume it: counterlens bench --resume --out {where}; or choose another folder",
    )


class Budget:
    """The time limit of a run in minutes, from its creation; without a limit, all items are begun.

    Work in progress at the end of a model's time is finished. All models are asked about the same functions:
    a later model only about those that the first one reached.

    Args:
        clock: Returns the time, in seconds.
    """

    def __init__(self, settings: RunSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._models, self._clock = settings.models, clock
        self._ends = None if settings.minutes is None else clock() + 60 * settings.minutes

    def same(self, left: Sequence[Item], done: Sequence[Item]) -> list[Item]:
        """The items of a model about functions that the first model was asked about.

        Args:
            left: Remaining items of the model.
            done: Finished items of all models.
        """
        first = {(item.task, item.problem) for item in done if item.model == self._models[0]}
        later = self._ends is not None and bool(first) and any(item.model != self._models[0] for item in left)
        return [item for item in left if not later or (item.task, item.problem) in first]

    def begun(self, left: Sequence[Item], model: str) -> Iterator[Item]:
        """The items of a model that begin before its share of the time is over.

        Args:
            left: The model's items, in order.
            model: The model, which shares the remaining time equally with those after it.
        """
        if self._ends is None:
            return iter(left)
        now = self._clock()
        until = now + (self._ends - now) / (len(self._models) - self._models.index(model))
        return takewhile(lambda _: self._clock() < until, left)
