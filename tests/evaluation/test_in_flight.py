"""Items in progress keep a model busy: all allowed requests of an endpoint are in flight."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from threading import Barrier, Condition, Event, Lock, Semaphore
from time import sleep
from typing import Any

import pytest

from counterlens.errors import Cancelled
from counterlens.evaluation.engines.gathering import GatheringModel
from counterlens.evaluation.engines.registry import LocalEngine, in_flight, run_local
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.models.base import Capability, Completion, Model, ModelInfo, Prompt
from counterlens.models.remote.model import RemoteModel
from counterlens.probes.record import Record
from counterlens.sandbox.registry import best_sandbox
from tests.models.remote.conftest import Handler, serving

CONCURRENCY, ENOUGH, PROMPTS = 64, 60, 4
ITEMS = [Item(i, f"m|execution|p{i}", "m", f"p{i}", "f", "00", "execution") for i in range(128)]


class Gathered(Model):
    """A model that takes many prompts at a time, and counts them."""

    info = ModelInfo("m", "m", "m", "local", frozenset({Capability.COMPLETE}))  # type: ignore[assignment]
    together = 32  # type: ignore[assignment]

    def __init__(self) -> None:
        self.now = self.answered = 0
        self._lock = Lock()

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        with self._lock:
            self.now += len(prompts)
        sleep(0.01)
        with self._lock:
            self.now -= len(prompts)
            self.answered += len(prompts)
        return [Completion("", "stop", 1)] * len(prompts)


def test_all_allowed_requests_of_an_endpoint_are_in_flight() -> None:
    """The endpoint answers nobody while few wait, so it does not matter how fast this machine is."""
    changed, waiting, levels = Condition(), [0], list[int]()
    half = len(ITEMS) * PROMPTS // 2

    def answer(handler: Handler) -> None:
        with changed:
            waiting[0] += 1
            changed.notify_all()
            changed.wait_for(lambda: waiting[0] >= ENOUGH or len(levels) >= half, timeout=120)
            levels.append(waiting[0])
            waiting[0] -= 1
            changed.notify_all()
        handler.reply(200, {"choices": [{"index": 0, "text": "1", "finish_reason": "stop"}]})

    engine = LocalEngine(best_sandbox())
    with serving(answer, models=["m"]) as script:
        model = RemoteModel(script.url, "m", concurrency=CONCURRENCY)

        def perform(item: Item) -> StoredRecord:
            for number in range(PROMPTS):
                model.complete([Prompt(f"{item.problem} {number}", 4)])
            return StoredRecord(Record(target=item.problem))

        with model:
            found = list(run_local(ITEMS, perform, Event(), in_flight(model, engine)))
    assert {each.item for each in found if each.error is None} == {*ITEMS}
    assert fmean(levels[:half]) >= ENOUGH
    assert max(levels) <= CONCURRENCY


def test_first_requests_wait_for_the_others_and_a_last_one_does_not() -> None:
    """Eight items are in progress; a model that could take 32 prompts gets those of all at once."""
    model, begun, calls, together = Gathered(), Semaphore(0), list[int](), Barrier(8, timeout=120)
    gathering = GatheringModel(model)
    items, prompts = ITEMS[:8], [Prompt("a", 1), Prompt("b", 1)]

    def perform(item: Item) -> StoredRecord:
        together.wait()
        if item.position < 7:
            begun.release()
        else:  # the last one is slow: it asks when all others have asked
            for _ in range(7):
                begun.acquire()
            while gathering._asking < 7:
                sleep(0.01)
            calls.append(model.now)
        gathering.complete(prompts)
        if item.position == 0:
            gathering.complete(prompts)
        return StoredRecord(Record())

    found = list(run_local(items, gathering.counted(perform), Event(), 8))
    assert [each.error for each in found] == [None] * 8
    assert calls == [0]
    assert model.answered == 9 * 2


def test_a_request_that_is_held_can_be_cancelled() -> None:
    gathering, cancel = GatheringModel(Gathered()), Event()
    cancel.set()
    asked = [*map(gathering.counted, [lambda _: gathering.complete([Prompt("a", 1)], cancel=cancel)])]

    def other(_: Item) -> None:  # another item, which brings more, is in progress
        with pytest.raises(Cancelled):
            gathering.counted(asked[0])(ITEMS[0])

    gathering.counted(other)(ITEMS[1])
