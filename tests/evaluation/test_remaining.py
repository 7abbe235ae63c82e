"""How long a run still takes: by the prompts that are left, at the pace of those that are done."""

from __future__ import annotations

import pytest

from counterlens.evaluation.remaining import BESIDE, RemainingTime
from counterlens.evaluation.store import Item


def item(position: int, model: str = "m", task: str = "completion") -> Item:
    return Item(position, f"{model}|{task}|f{position}", model, f"f{position}", "f", "00", task)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_functions_count_by_their_prompts_and_those_without_tell_nothing() -> None:
    clock, items = Clock(), [item(number) for number in range(4)]
    prompts = {"completion": {"f0": 0.0, "f1": 10.0, "f2": 10.0, "f3": 40.0}}
    left = RemainingTime(items, prompts, clock=clock)
    assert left.seconds() is None
    left.begin(items[0])
    clock.now = 1
    left.end(items[0])
    assert left.seconds() is None  # it asked nothing
    left.begin(items[1])
    clock.now = 101
    left.end(items[1])
    pace = 101 / (10 + 2 * BESIDE)
    assert left.seconds() == pytest.approx(pace * (50 + 2 * BESIDE))
    left.begin(items[2])
    clock.now = 151  # half of what it should take
    assert left.seconds() == pytest.approx(pace * (50 + 2 * BESIDE) - 50)
    clock.now = 1101  # much longer than it should take: it counts as nearly done
    assert left.seconds() == pytest.approx(pace * (40 + BESIDE) + 0.1 * pace * (10 + BESIDE))


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
