"""Models by turns: one function, all models, then the next; whenever a run stops, all have the same ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import pytest

import counterlens.evaluation.run as running
from counterlens.errors import Cancelled
from counterlens.evaluation.engines.registry import LocalEngine
from counterlens.evaluation.engines.turns import ModelTurns, TurnModel, excess_memory
from counterlens.evaluation.plan import Plan, make_plan
from counterlens.evaluation.run import Ended, Run
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, Store, StoredRecord
from counterlens.evaluation.time_limit import TimeLimit
from counterlens.models.base import Capability, Completion, Model, ModelInfo, Prompt
from counterlens.models.local.model import LocalModel
from counterlens.models.speed import available_memory
from counterlens.probes.record import Record
from counterlens.sandbox.registry import best_sandbox

FUNCTIONS = 12


class Quiet(LocalModel):
    """A model on this machine whose answers a test decides."""

    together = 4  # type: ignore[assignment]

    def __init__(self, spec: str, file_bytes: int = 0) -> None:
        self.file_bytes, self.asked = file_bytes, list[str]()
        self._info = ModelInfo(spec, spec, f"identity of {spec}", "local", frozenset({Capability.SCORE}))

    @property
    def info(self) -> ModelInfo:
        return self._info

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        self.asked += [prompt.text for prompt in prompts]
        return [Completion("", "stop", 1)] * len(prompts)

    def close(self) -> None:
        """There is no process."""


class Engine(LocalEngine):
    """Opens models of a test."""

    def __init__(self, file_bytes: int = 0) -> None:
        super().__init__(best_sandbox())
        self._bytes = file_bytes

    def open(self, spec: str, settings: RunSettings) -> Model:  # noqa: ARG002 - those of the test
        return Quiet(spec, self._bytes)


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    for number in range(FUNCTIONS):
        example = f'    """Give.\n\n    >>> f{number}(3)\n    3\n    """\n'
        (folder / f"m{number}.py").write_text(f"def f{number}(n):\n{example}    return n\n")
    return folder


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[Item]:
    """The items that were asked, in the order in which they were begun; nothing is run."""
    items, lock = list[Item](), Lock()

    def perform(_run: Run, model: Model, _encoder: Any, cancel: Event, _notice: Any, item: Item) -> Any:
        if cancel.is_set():
            raise Cancelled
        with lock:
            items.append(item)
        model.complete([Prompt(item.problem, 1)], cancel=cancel)
        return StoredRecord(Record(probe=item.task, model=item.model, target=item.problem))

    monkeypatch.setattr(Run, "_perform", perform)
    return items


def plan_of(code: Path, **more: Any) -> Plan:
    chosen = RunSettings.of(["likelihood"], f"repo:{code}", {"seed": 1}, models=("a", "b"), **more)
    return make_plan(chosen, best_sandbox())


def functions(store: Store, model: str) -> set[str]:
    return {item.problem for item in store.items if item.model == model and item.position in store.done}


def go(store: Store, plan: Plan, engine: LocalEngine, stop: Callable[[int], bool] = lambda _: False) -> Ended:
    """Begin or resume a run; it is cancelled when so many items are done."""
    run, cancel = (Run.begin if store.settings is None else Run.resume)(store, plan, engine), Event()

    def advance(done: int, _total: int, _name: str) -> None:
        if stop(done):
            cancel.set()
            raise Cancelled

    return run.go(cancel, advance)


def test_each_function_is_asked_of_all_models_and_then_the_next(
    code: Path, tmp_path: Path, answered: list[Item]
) -> None:
    with Store.create(tmp_path / "run") as store:
        ended = go(store, plan_of(code), Engine())
        assert (ended.done, ended.apart) == (2 * FUNCTIONS, "")
    for number in range(FUNCTIONS):
        begun = {item.problem for item in answered[: 2 * number + 2]}
        assert len(begun) <= number + 1 + Engine().programs  # threads may overtake each other


@pytest.mark.parametrize("stop", [3, 9, 16])
def test_a_run_that_is_stopped_has_the_same_functions_of_all_and_is_resumed(
    code: Path, tmp_path: Path, answered: list[Item], stop: int
) -> None:
    plan = plan_of(code)
    with Store.create(tmp_path / "run") as store:
        with pytest.raises(Cancelled):
            go(store, plan, Engine(), lambda done: done >= stop)
        first, second = functions(store, "a"), functions(store, "b")
        assert first & second
        assert len(first ^ second) <= Engine().programs + Quiet.together
        before = len(store.done)
        answered.clear()
        assert go(store, plan, Engine()).done == 2 * FUNCTIONS
        assert len(answered) == 2 * FUNCTIONS - before
        assert functions(store, "a") == functions(store, "b")


@pytest.mark.usefixtures("answered")
def test_a_time_limit_ends_between_two_functions(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter(range(1_000))
    monkeypatch.setattr(
        running, "TimeLimit", lambda settings: TimeLimit(settings, lambda: 10.0 * next(looks))
    )
    with Store.create(tmp_path / "run") as store:
        go(store, plan_of(code, minutes=1.0), Engine())
        assert functions(store, "a") == functions(store, "b")
        assert 1 <= len(functions(store, "a")) < FUNCTIONS


def test_models_that_do_not_fit_into_memory_are_asked_one_after_the_other(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answered: list[Item]
) -> None:
    monkeypatch.setattr(running, "available_memory", lambda: 5_000_000_000)
    with Store.create(tmp_path / "run") as store:
        ended = go(store, plan_of(code), Engine(2_000_000_000))
    assert [item.model for item in answered] == ["a"] * FUNCTIONS + ["b"] * FUNCTIONS
    assert ended.apart == ("b was asked after a: they need about 6.0 GB of memory, and 5.0 GB are free")


def test_memory_is_enough_or_not() -> None:
    available = available_memory()
    assert available is None or available > 1 << 20
    models = [Quiet("a", 2_000_000_000), Quiet("b", 1_000_000_000)]
    assert excess_memory(models, 4_500_000_000) == excess_memory(models, None) == ""
    assert "4.5 GB of memory, and 4.4 GB are free" in excess_memory(models, 4_400_000_000)
    assert excess_memory(models[:1], 1) == ""


def test_requests_of_one_model_at_a_time_and_none_waits_for_long() -> None:
    turns, models = ModelTurns(), [Quiet("a"), Quiet("b")]
    working, most, order, lock = list[str](), [0], list[str](), Lock()
    begun, released = Event(), Event()

    class Slow(Quiet):
        def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
            with lock:
                working.append(self.info.id)
                order.append(self.info.id)
                most[0] = max(most[0], len({*working}))
            begun.set()
            released.wait(60)
            with lock:
                working.remove(self.info.id)
            return [Completion("", "stop", 1)] * len(prompts)

    waiting = [TurnModel(Slow(model.info.id), turns) for model in models]
    first, other = waiting
    prompts = [Prompt("p", 1)] * 2
    threads = [Thread(target=first.complete, args=[prompts])]
    threads[0].start()
    assert begun.wait(60)
    for model in (first, first, first, other, other, other, first):
        threads.append(Thread(target=model.complete, args=[prompts]))
        threads[-1].start()
        while len(turns._waiting) + turns._working < len(threads):
            released.wait(0.01)
    released.set()
    for thread in threads:
        thread.join(60)
    assert most == [1]
    assert sorted(order) == ["a"] * 5 + ["b"] * 3
    # Nobody waited when the first three of `a` began; those after them give `b` its turn.
    assert order.index("b") <= 4


def test_a_request_that_waits_can_be_cancelled() -> None:
    turns, cancel = ModelTurns(), Event()
    cancel.set()
    with turns.turn(Quiet("a"), 1, None), pytest.raises(Cancelled), turns.turn(Quiet("b"), 1, cancel):
        pass
    assert turns._waiting == []
