"""How long a run still takes: by the prompts that are left, at the pace of those that are done."""

from __future__ import annotations

import pytest

from counterlens.evaluation.item_time import ItemTime
from counterlens.evaluation.remaining import RemainingTime
from counterlens.evaluation.store import Item

RECORDED = [
    (7, 1.6, 95.3),
    (0, 1.6, 2.7),
    (0, 1.6, 2.7),
    (4, 2.7, 80.3),
    (0, 2.7, 3.7),
    (5, 3.7, 84.9),
    (0, 80.4, 81.8),
    (5, 81.9, 130.8),
    (5, 84.9, 122.0),
    (5, 95.3, 194.3),
    (0, 122.0, 122.5),
    (7, 122.5, 214.6),
    (0, 130.8, 131.5),
    (4, 131.5, 189.8),
    (5, 189.8, 324.3),
    (5, 194.3, 330.1),
    (5, 214.6, 398.1),
    (6, 324.3, 477.1),
    (0, 330.1, 330.7),
    (7, 330.7, 469.1),
    (9, 398.1, 564.6),
    (9, 469.1, 534.8),
    (0, 477.1, 477.8),
    (5, 477.8, 540.5),
    (6, 534.8, 571.3),
    (13, 540.5, 702.3),
]
"""Prompts, and seconds from when to when each item was in work: 26 functions of HumanEval (seed 4, 24 tokens,
two mutations) with the embedded model, three at a time, on a machine whose load doubled meanwhile."""


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
    clock.now = 124  # half of what it should take
    assert told - 45 < (left.seconds() or 0) < told + 45
    clock.now = 1084  # much longer: some of it is left, and the other will take long, too
    later = left.seconds()
    assert later is not None
    assert later > 2 * told


def test_what_is_in_work_for_long_tells_before_it_is_done() -> None:
    clock, items = Clock(), [item(number) for number in range(8)]
    left = RemainingTime(items, {"completion": {f"f{number}": 9.5 for number in range(8)}}, clock=clock)
    for one in items[:4]:
        left.begin(one)
    clock.now = 10
    left.end(items[0])
    soon = left.seconds()
    clock.now = 40
    late = left.seconds()
    assert soon is not None
    assert late is not None
    assert late > 1.5 * soon


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


def recorded() -> list[tuple[float, float, float]]:
    """Of every fifth second of the recorded run: how far it is, and by what share two estimates are off.

    The second one is by the number of functions.
    """
    clock, items = Clock(), [item(number) for number in range(len(RECORDED))]
    prompts = {f"f{number}": float(count) for number, (count, _, _) in enumerate(RECORDED)}
    left = RemainingTime(items, {"completion": prompts}, clock=clock)
    ends = [end for *_, end in RECORDED]
    events = [(begun, 0, number) for number, (_, begun, _) in enumerate(RECORDED)]
    events += [(end, 1, number) for number, end in enumerate(ends)]
    found, look, total = [], 0.0, max(ends)
    for at, over, number in sorted(events):
        while look < at:
            clock.now, done = look, sum(end <= look for end in ends)
            if (said := left.seconds()) is not None and done:
                by_number = (len(ends) - done) * look / done
                found.append((look / total, *(one / (total - look) - 1 for one in (said, by_number))))
            look += 5
        clock.now = at
        (left.end if over else left.begin)(items[number])
    return found


def test_a_recorded_run_is_foreseen_better_than_by_the_number_of_its_functions() -> None:
    looks = [one for one in recorded() if 0.2 <= one[0] <= 0.9]
    ours, others = ([abs(one[which]) <= 0.3 for one in looks] for which in (1, 2))
    assert sum(ours) > 3 * sum(others) > 0
    assert sum(ours) > 0.7 * len(ours)
