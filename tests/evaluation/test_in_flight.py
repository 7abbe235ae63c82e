"""Items in progress keep a model busy: all allowed requests of an endpoint are in flight."""

from __future__ import annotations

from statistics import fmean
from threading import Condition, Event

from counterlens.evaluation.engines.registry import LocalEngine, in_flight, run_local
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.models.base import Prompt
from counterlens.models.remote.model import RemoteModel
from counterlens.probes.record import Record
from counterlens.sandbox.registry import best_sandbox
from tests.models.remote.conftest import Handler, serving

CONCURRENCY, ENOUGH, PROMPTS = 64, 60, 4
ITEMS = [Item(i, f"m|execution|p{i}", "m", f"p{i}", "f", "00", "execution") for i in range(128)]


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
