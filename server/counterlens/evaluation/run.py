"""A run: its plan is processed into its folder, from the start or resumed."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from threading import Event

from counterlens.errors import Cancelled, CounterlensError, DataError, UnsteadyModelError
from counterlens.evaluation.decided import excess_of
from counterlens.evaluation.engines.base import EvaluationEngine
from counterlens.evaluation.engines.gathering import GatheringModel
from counterlens.evaluation.engines.registry import Finished, in_flight, run_local
from counterlens.evaluation.engines.turns import ModelTurns, TurnModel, excess_memory
from counterlens.evaluation.manifest import canonical, differences, find_out, manifest
from counterlens.evaluation.order import by_functions
from counterlens.evaluation.plan import Plan
from counterlens.evaluation.spending import Spending
from counterlens.evaluation.store import Item, Store, StoredRecord
from counterlens.evaluation.time_left import TimeLeft
from counterlens.evaluation.time_limit import TimeLimit
from counterlens.evaluation.work import opened_encoder, perform
from counterlens.models.base import ASKED, Capability, Model
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.local.model import LocalModel
from counterlens.models.sentences import ModelSentences
from counterlens.models.speed import ModelSpeed, available_memory, noted_speed, undisturbed_speed
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
        over: A message that the maximum cost is reached; empty if it is not.
        apart: Why some models were asked after the others, not by turns; empty if none were.
        unmeasured: Why the speed of some models is not kept; empty if there are none.
    """

    done: int
    total: int
    failed: dict[str, CounterlensError]
    over: str = ""
    apart: str = ""
    unmeasured: str = ""


@dataclass(frozen=True, slots=True)
class _Going:
    """The state of a run in progress, see `Run.go`; `begun` is as if the run had never been interrupted."""

    cancel: Event
    advance: Advance | None
    notice: Notice | None
    remaining: TimeLeft | None
    failed: dict[str, CounterlensError]
    spending: Spending
    begun: float
    apart: list[str] = field(default_factory=list)
    unmeasured: list[str] = field(default_factory=list)


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
        settings, spending = self._plan.settings, Spending(self._store, self._plan.settings)
        begun = time.monotonic() - self._store.elapsed
        going = _Going(cancel, advance, notice, remaining, {}, spending, begun)
        unsteady = (spec for spec in settings.models if self._unsteady(spec, going.failed))
        refused = {*unsteady}
        limit = TimeLimit(settings)
        with closing(AnswerStore(self._store.answers, limit=_ANSWER_BYTES)) as answers:
            while specs := self._models_left(refused):
                asked = self._ask(specs, limit, refused, answers, going)
                refused |= {*asked}
                for spec in asked:
                    self._unsteady(spec, going.failed, ended=True)
        remarks = ("; ".join(some) for some in (going.apart, going.unmeasured))
        return Ended(len(self._store.done), len(self._plan.items), going.failed, spending.over, *remarks)

    def _models_left(self, asked: Collection[str]) -> list[str]:
        """The models that have not been asked about everything, and have not been asked in this call."""
        done = self._store.done
        left = {item.model for item in self._plan.items if item.position not in done}
        return [spec for spec in self._plan.settings.models if spec in left and spec not in asked]

    def _ask(
        self, specs: Sequence[str], limit: TimeLimit, refused: set[str], answers: AnswerStore, going: _Going
    ) -> list[str]:
        """Ask models, function by function, until their items, the time or the money are used up.

        Args:
            specs: The models.
            refused: The models that get no requests; those with unsteady answers are added.

        Returns:
            The models that were asked: as many of the first ones as can be open at the same time.
        """
        settings, spending, available = self._plan.settings, going.spending, available_memory()
        with ExitStack() as opened, opened_encoder(settings, answers) as encoder:
            models = dict(self._open_together(specs, opened, available, going))
            for spec, (model, opening) in models.items():
                self._keep_speed(spec, model, opening, going)
                spending.begin(spec, model)
            opened.callback(spending.end)
            turns = (
                ModelTurns()
                if sum(isinstance(model, LocalModel) for model, _ in models.values()) > 1
                else None
            )
            # Items that are in progress when the time is over are finished, and exceed it.
            flights = [in_flight(model, self._engine) for model, _ in models.values()]
            most = self._engine.programs if settings.minutes else max(flights)
            asking = {
                spec: self._asking(spec, model, encoder, answers, turns, most, going)
                for spec, (model, _) in models.items()
            }
            items = self._items_of(list(models), limit, len(specs) - len(models), refused, going)
            done = len(self._store.done)

            def allowed() -> int:
                return spending.affordable(len(self._store.done) - done, most)

            def perform(item: Item) -> StoredRecord:
                return asking[item.model][0](item)

            # Closed before the models are, whatever happens here: its threads still use them.
            with closing(run_local(items, perform, going.cancel, most, allowed)) as outcomes:
                for finished in outcomes:
                    spending.record_usage()
                    self._keep(finished, asking[finished.item.model][1], refused, going)
        return list(models)

    def _open_together(
        self, specs: Sequence[str], opened: ExitStack, available: int | None, going: _Going
    ) -> Iterator[tuple[str, tuple[Model, float]]]:
        """Open models, each with the seconds that this took: as many of the first ones as fit."""
        settings, models = self._plan.settings, list[Model]()
        why = self._engine.why_apart(specs, settings)
        for number, spec in enumerate(specs):
            started = time.perf_counter()
            if not (number and why):
                models.append(opened.enter_context(self._engine.open(spec, settings)))
                why = why or excess_memory(models, available)
            if number and why:
                going.apart.append(f"{spec} was asked after {' and '.join(specs[:number])}: {why}")
                if len(models) > number:
                    models.pop().close()
                return
            yield spec, (models[-1], time.perf_counter() - started)

    def _asking(
        self,
        spec: str,
        model: Model,
        encoder: ModelSentences | None,
        answers: AnswerStore,
        turns: ModelTurns | None,
        most: int,
        going: _Going,
    ) -> tuple[Callable[[Item], StoredRecord], Callable[[], str]]:
        """What processes an item of a model, and what returns the digest of the model's manifest."""
        circumstances = self._circumstances(spec, model, encoder)
        gathers = isinstance(model, LocalModel) and most >= model.together
        waiting = TurnModel(model, turns) if turns and isinstance(model, LocalModel) else model
        gathering = GatheringModel(waiting)
        asked = CachedModel(gathering if gathers else waiting, answers)
        perform = gathering.counted(partial(self._perform_followed, going, asked, encoder))
        return perform, lambda: circumstances(asked)

    def _items_of(
        self, specs: Sequence[str], limit: TimeLimit, later: int, refused: Collection[str], going: _Going
    ) -> Iterator[Item]:
        """The items that models are asked about, function by function, while time and maximum cost allow.

        Args:
            later: Number of models that are asked after these.
            refused: The models that get no further request.
        """
        done, remaining = self._store.done, going.remaining
        own = [item for item in self._plan.items if item.model in specs]
        functions = by_functions(own, self._plan.settings, remaining.work if remaining else lambda _: 0.0)
        asked = [item for item in self._plan.items if item.position in done]
        left = ([item for item in function if item.position not in done] for function in functions)
        begun = limit.begun(filter(None, left), specs, later, asked)
        for function in takewhile(lambda _: going.spending.within(), begun):
            for item in function:
                if item.model not in refused and self._is_undecided(item):
                    yield item

    def _keep(
        self, finished: Finished, circumstances: Callable[[], str], refused: set[str], going: _Going
    ) -> None:
        """Store the record of a finished item; refuse a model whose answers are unsteady."""
        if finished.record is None:
            self._note(finished, going.failed)
            return
        spec = finished.item.model
        self._store.append(finished.item, replace(finished.record, manifest=circumstances()))
        self._store.keep_elapsed(time.monotonic() - going.begun)
        if going.advance:
            whose = spec if len(self._plan.settings.models) > 1 else ""
            label = ", ".join(filter(None, (finished.item.problem, whose, going.spending.usage_text(spec))))
            going.advance(len(self._store.done), len(self._plan.items), label)
        unsteady = finished.record.record.outcome is Outcome.UNSTEADY
        if unsteady and self._unsteady(spec, going.failed):
            refused.add(spec)

    def _is_undecided(self, item: Item) -> bool:
        """Whether more functions are wanted from the model of an item in its task."""
        if not self._plan.settings.until_decided:
            return True
        plan = self._plan
        excess = excess_of(plan.settings, item.model, item.task, plan.items, self._store.records())
        return excess is None or not excess.decided

    def _keep_speed(self, spec: str, model: Model, opening: float, going: _Going) -> None:
        """Store the speed of a local model, which is measured if that was never done on this machine."""
        completes = isinstance(model, LocalModel) and model.offers(Capability.COMPLETE)
        if not isinstance(model, LocalModel) or not completes or self._store.speeds([spec]):
            return
        speed: ModelSpeed | str | None = noted_speed(model.info.identity)
        # An earlier version did not measure the first token.
        if not isinstance(speed, ModelSpeed) or not speed.first_token:
            notice = going.notice or (lambda _: None)
            speed = undisturbed_speed(model, opening, notice=notice, pid=model.pid, cancel=going.cancel)
        if isinstance(speed, str):
            going.unmeasured.append(speed)
        else:
            self._store.keep_speed(spec, speed)

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
        manifests = {
            digest: before
            for digest, before in self._store.manifests.items()
            if before["model"]["asked_as"] == spec
        }
        for before in manifests.values():
            changed = differences(before, document)
            if changed:
                raise DataError(
                    f"the run was started under different circumstances: {'; '.join(changed[:3])}",
                    "Records of both do not belong in one table: start a new run in another folder",
                )
        digests = {before["model"]["details"].get(ASKED): digest for digest, before in manifests.items()}

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
