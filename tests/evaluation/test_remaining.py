"""The remaining time of a run: by the programs and prompts of its items, finished and in progress."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis.strategies import floats, integers, lists

from counterlens.evaluation.item_time import ItemTime
from counterlens.evaluation.remaining import RemainingTime
from counterlens.evaluation.schedule import elapsed
from counterlens.evaluation.store import Item
from counterlens.sandbox.base import Job
from counterlens.sandbox.registry import best_sandbox

RECORDED = [json.loads(line) for line in (Path(__file__).parent / "recorded_runs.jsonl").open()]
"""Runs with the prompts of each item in the plan, and events in order: the second, the item, what it did
(`begin`, `end`, or a number of programs or prompts) and the seconds that it took. The machine was idle."""


def item(position: int, model: str = "m", task: str = "completion") -> Item:
    return Item(position, f"{model}|{task}|f{position}", model, f"f{position}", "f", "00", task)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_functions_count_by_their_prompts_and_those_without_tell_nothing_of_others() -> None:
    clock, items = Clock(), [item(number) for number in range(4)]
    prompts = {"completion": {"f0": 0.0, "f1": 10.0, "f2": 10.0, "f3": 40.0}}
    left = RemainingTime(items, prompts, clock=clock)
    assert left.seconds() is None
    left.begin(items[0])
    clock.now = 4
    left.end(items[0])
    assert left.seconds() is None  # it asked nothing
    left.begin(items[1])
    clock.now = 84
    left.end(items[1])
    told = left.seconds()
    assert told is not None
    assert 300 < told < 500  # 50 prompts at some 8 s
    left.begin(items[2])
    clock.now = 1084  # much longer: some of it is still left
    later = left.seconds()
    assert later is not None
    assert later > 0.75 * told


def test_an_item_counts_by_what_it_has_done_and_goes_on_at_its_own_pace() -> None:
    clock, items = Clock(), [item(number) for number in range(3)]
    left = RemainingTime(items, {"completion": {f"f{number}": 10.0 for number in range(3)}}, clock=clock)

    def work(one: Item, programs: int, seconds: float) -> None:
        for _ in range(programs):
            clock.now += seconds
            left.note(one, programs=1, seconds=seconds)

    left.begin(items[0])
    work(items[0], 34, 1.0)
    clock.now += 10
    left.note(items[0], prompts=10, seconds=10)
    left.end(items[0])
    assert left.seconds() == pytest.approx(2 * 44)
    left.begin(items[1])
    work(items[1], 17, 1.0)
    assert left.seconds() == pytest.approx(2 * 44 - 17)
    work(items[1], 10, 9.0)
    assert left.seconds() > 7 * 2.5 + 10 + 44  # type: ignore[operator]  # its programs take longer than others
    left.end(items[1])
    left.begin(items[2])
    work(items[2], 100, 1.0)  # more than expected: some are always left
    told = left.seconds()
    assert told is not None
    assert told > 4


def test_an_item_tells_before_any_has_ended() -> None:
    clock, items = Clock(), [item(number) for number in range(2)]
    left = RemainingTime(items, {"completion": {f"f{number}": 10.0 for number in range(2)}}, clock=clock)
    left.begin(items[0])
    clock.now = 20
    left.note(items[0], programs=20, seconds=20)
    assert left.seconds() is None  # nothing is known of prompts yet
    clock.now = 30
    left.note(items[0], prompts=10, seconds=10)
    assert left.seconds() == pytest.approx(14 + 44, rel=0.1)


def test_programs_and_prompts_are_followed_on_the_thread_of_their_item() -> None:
    items = [item(number) for number in range(2)]
    left = RemainingTime(items, {"completion": {f"f{number}": 1.0 for number in range(2)}})
    job = Job({"main.py": b""}, "main.py", Path(sys.executable))
    best_sandbox().run(job)
    left.note_prompts(1, 1.0)  # of nobody
    with left.following(items[0]):
        best_sandbox().run(job)
        left.note_prompts(2, 1.5)
        ((_, work),) = left._working.values()
        assert (work.programs, work.prompts, work.prompt_seconds) == (1, 2, 1.5)
        assert work.program_seconds > 0
    best_sandbox().run(job)
    assert left.seconds() is not None
    with pytest.raises(ValueError, match="broken"), left.following(items[1]):
        raise ValueError("broken")
    assert left.seconds() == 0


def test_the_largest_and_the_smallest_items_of_each_task_begin_by_turns() -> None:
    items = [item(0), item(1, task="summary"), item(2), item(3, task="summary"), item(4), item(5)]
    prompts = {"completion": {"f0": 2.0, "f2": 9.0, "f4": 1.0, "f5": 3.0}, "summary": {"f1": 2.0, "f3": 20.0}}
    order = RemainingTime(items, prompts).in_order(items)
    assert [one.position for one in order] == [2, 4, 5, 0, 3, 1]


@given(
    working=lists(floats(0, 50), max_size=6),
    waiting=lists(floats(0, 50), max_size=80),
    workers=integers(1, 6),
)
def test_a_schedule_is_between_its_bounds(working: list[float], waiting: list[float], workers: int) -> None:
    workers = max(workers, len(working))
    times = [*working, *waiting]
    for shared in (0.0, 1.0):
        found = elapsed(working, waiting, workers=workers, shared=shared, processors=2)
        assert found <= sum(times) / workers + max(times, default=0) + 1e-6
        if shared:  # two processors that are never idle, but for the last item
            assert found >= sum(times) / max(workers, 2) - 1e-6
        else:
            assert found >= max(sum(times) / workers, max(working, default=0)) - 1e-6
    assert elapsed([30], [], workers=6, shared=0.0, processors=2) == pytest.approx(30)
    assert elapsed([30], [], workers=6, shared=1.0, processors=2) == pytest.approx(10)


def test_the_pace_of_an_earlier_run_holds_until_this_one_has_its_own() -> None:
    clock, items = Clock(), [item(number) for number in range(20)]
    prompts = {"completion": {f"f{number}": 5.0 for number in range(20)}}
    left = RemainingTime(items, prompts, known={("m", "completion"): ItemTime(2, 1)}, clock=clock)
    assert left.seconds() == pytest.approx(20 * 11)
    for one in items[:10]:
        left.begin(one)
        clock.now += 22
        left.end(one)
    assert left.seconds() == pytest.approx(10 * 22, rel=0.15)


def test_the_pace_of_an_earlier_run_holds_while_every_item_is_in_work() -> None:
    clock, one = Clock(), item(0)
    left = RemainingTime(
        [one], {"completion": {"f0": 5.0}}, known={("m", "completion"): ItemTime(2, 1)}, clock=clock
    )
    left.begin(one)
    assert left.seconds() == pytest.approx(11)


def test_items_in_work_together_take_less_time_together() -> None:
    clock, items = Clock(), [item(number) for number in range(6)]
    left = RemainingTime(items, {"completion": {f"f{number}": 9.5 for number in range(6)}}, clock=clock)
    for one in items[:2]:
        left.begin(one)
    clock.now = 60
    for one in items[:2]:
        left.end(one)
    assert left.seconds() == pytest.approx(4 * 60 / 2)


def test_another_model_has_a_pace_of_its_own_once_it_has_begun() -> None:
    clock, items = Clock(), [item(number, "quick" if number < 2 else "slow") for number in range(5)]
    left = RemainingTime(items, {"completion": {f"f{number}": 9.5 for number in range(5)}}, clock=clock)
    for one, took in ((items[0], 10), (items[1], 10), (items[2], 100)):
        left.begin(one)
        clock.now += took
        left.end(one)
        if one is items[1]:
            assert left.seconds() == pytest.approx(30)  # nothing is known of the slow one yet
    assert left.seconds() == pytest.approx(200)


def test_what_failed_is_no_longer_left_and_says_nothing_of_others_and_a_budget_ends_it() -> None:
    clock, items = Clock(), [item(number) for number in range(4)]
    left = RemainingTime(
        items, {"completion": {f"f{number}": 9.5 for number in range(4)}}, most=60, clock=clock
    )
    left.begin(items[0])
    clock.now = 1
    left.end(items[0], done=False)
    assert left.seconds() is None
    left.begin(items[1])
    clock.now = 31
    left.end(items[1])
    assert left.seconds() == 29  # two of 30 s are left, and 29 s of the budget


def moments(run: dict[str, Any]) -> list[tuple[float, float, float]]:
    """For each second of a recorded run: its share, and the relative errors of two estimates.

    The second estimate is by the number of functions.
    """
    clock, items = Clock(), [item(number) for number in range(len(run["prompts"]))]
    prompts = {f"f{number}": float(count) for number, count in enumerate(run["prompts"])}
    left = RemainingTime(
        items,
        {"completion": prompts},
        elsewhere=["m"] if run["elsewhere"] else [],
        processors=2,
        clock=clock,
    )
    total, done, look, found = run["events"][-1][0], 0, 1.0, []
    for at, number, what, seconds in run["events"]:
        while look < min(at, total):
            clock.now = look
            said, truth = left.seconds(), total - look
            by_number = (len(items) - done) * look / done if done else 0.0
            found.append((look / total, (said or 0.0) / truth - 1, by_number / truth - 1))
            look += 1
        clock.now = at
        if what in ("begin", "end"):
            getattr(left, what)(items[number])
            done += what == "end"
        else:
            kind, count = what
            left.note(items[number], seconds=seconds, **{kind: count})
    return found


@pytest.mark.parametrize("run", RECORDED, ids=lambda run: run["name"])
def test_a_recorded_run_is_foreseen_better_than_by_the_number_of_its_functions(run: dict[str, Any]) -> None:
    looks = moments(run)
    ours, others = ([abs(one[which]) <= 0.3 for one in looks] for which in (1, 2))
    assert sum(ours) > 1.3 * sum(others) > 0
    assert sum(ours) > 0.7 * len(ours)
