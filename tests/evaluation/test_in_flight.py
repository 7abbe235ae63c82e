"""Items in progress keep a model busy: all allowed requests of an endpoint are in flight."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from threading import Barrier, Condition, Event, Lock, Semaphore
from time import sleep
from typing import Any

import pytest

from counterlens.errors import Cancelled
from counterlens.evaluation.engines.gathering import GatheringModel
from counterlens.evaluation.engines.registry import LocalEngine, in_flight, run_local
from counterlens.evaluation.plan import make_plan
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.evaluation.work import perform
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


@dataclass
class Crowd:
    """Answers of an endpoint that answers nobody while few requests wait, however fast this machine is.

    Attributes:
        half: Number of answers after which it answers at once: the last requests of a run are few.
        is_open: Whether it answers at once for now.
        levels: The number of requests in flight at each answer.
    """

    half: int
    is_open: bool = False
    levels: list[int] = field(default_factory=list)
    _waiting: int = 0
    _changed: Condition = field(default_factory=Condition)

    def __call__(self, handler: Handler) -> None:
        with self._changed:
            self._waiting += 1
            self._changed.notify_all()
            self._changed.wait_for(self._is_enough, timeout=120)
            if not self.is_open:
                self.levels.append(self._waiting)
            self._waiting -= 1
            self._changed.notify_all()
        handler.reply(200, {"choices": [{"index": 0, "text": "yes", "finish_reason": "stop"}]})

    def _is_enough(self) -> bool:
        return self.is_open or self._waiting >= ENOUGH or len(self.levels) >= self.half

    def require_full(self) -> None:
        assert fmean(self.levels[: self.half]) >= ENOUGH
        assert max(self.levels) <= CONCURRENCY


def test_all_allowed_requests_of_an_endpoint_are_in_flight() -> None:
    """Each item has one request at a time."""
    crowd = Crowd(len(ITEMS) * PROMPTS // 2)
    engine = LocalEngine(best_sandbox())
    with serving(crowd, models=["m"]) as script:
        model = RemoteModel(script.url, "m", concurrency=CONCURRENCY)

        def asking(item: Item) -> StoredRecord:
            for number in range(PROMPTS):
                model.complete([Prompt(f"{item.problem} {number}", 4)])
            return StoredRecord(Record(target=item.problem))

        with model:
            finished = list(run_local(ITEMS, asking, Event(), in_flight(model, engine)))
    assert {each.item for each in finished if each.error is None} == {*ITEMS}
    crowd.require_full()


def test_a_run_of_whole_functions_has_all_allowed_requests_in_flight(tmp_path: Path) -> None:
    """Prompted dependences: a function has questions, and the first one is repeated."""
    data = tmp_path / "problems.jsonl"
    data.write_text("".join(json.dumps(problem(number)) + "\n" for number in range(128)))
    settings = RunSettings.of(("dependence",), f"humaneval:{data}", {}, models=("m",))
    engine = LocalEngine(best_sandbox())
    plan = make_plan(settings, engine.sandbox)
    crowd = Crowd(len(plan.items), is_open=True)
    with (
        serving(crowd, models=["m"]) as script,
        RemoteModel(script.url, "m", concurrency=CONCURRENCY) as model,
    ):
        assert not model.offers(Capability.SCORE)
        crowd.is_open = False

        def probed(item: Item) -> StoredRecord:
            return StoredRecord(perform(settings, item.task, plan.target(item), model, engine.sandbox))

        finished = list(run_local(plan.items, probed, Event(), in_flight(model, engine)))
    assert [each.error for each in finished] == [None] * 128
    assert not any(each.record.record.reason for each in finished if each.record)
    assert len(crowd.levels) >= 2 * crowd.half
    crowd.require_full()


def problem(number: int) -> dict[str, str]:
    """A function of a dataset whose statements depend on each other."""
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": f"def clamp_{number}(x):\n",
        "canonical_solution": (
            f"    low = {number}\n    result = low + x\n    if x < low:\n        result = low\n"
            "    else:\n        result = x\n    return result\n"
        ),
        "test": f"def check(candidate):\n    assert (candidate(-3), candidate(999)) == ({number}, 999)\n",
        "entry_point": f"clamp_{number}",
    }


def test_first_requests_wait_for_the_others_and_a_last_one_does_not() -> None:
    """Eight items are in progress; a model that could take 32 prompts gets those of all at once."""
    model, begun, calls, together = Gathered(), Semaphore(0), list[int](), Barrier(8, timeout=120)
    gathering = GatheringModel(model)
    items, prompts = ITEMS[:8], [Prompt("a", 1), Prompt("b", 1)]

    def asking(item: Item) -> StoredRecord:
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

    finished = list(run_local(items, gathering.counted(asking), Event(), 8))
    assert [each.error for each in finished] == [None] * 8
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
