"""The time of an item, learned from those that are done and those in work."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.evaluation.item_time import BESIDE, ItemTime, ItemTimes, expected

SECONDS = st.floats(0.01, 1e5)


def seen(*items: tuple[float, float]) -> ItemTimes:
    found = ItemTimes()
    for prompts, seconds in items:
        found.add(prompts, seconds)
    return found


def test_both_parts_are_found_in_many_items() -> None:
    fitted = seen(*((prompts, 3 * prompts + 20) for prompts in range(1, 60))).fitted()
    assert fitted.per_prompt == pytest.approx(3, rel=0.1)
    assert fitted.per_function == pytest.approx(20, rel=0.3)


def test_one_item_has_the_assumed_overhead() -> None:
    fitted = seen((10, 10 * (10 + BESIDE))).fitted()
    assert fitted.per_prompt == pytest.approx(10)
    assert fitted.per_function == pytest.approx(10 * BESIDE)


@given(st.lists(st.tuples(st.integers(0, 200).map(float), SECONDS), min_size=1, max_size=30))
def test_no_part_is_negative(items: list[tuple[float, float]]) -> None:
    fitted = seen(*items).fitted()
    assert fitted.per_prompt >= 0
    assert fitted.per_function >= 0


@given(SECONDS, SECONDS)
def test_an_item_takes_longer_than_it_has_taken(seconds: float, waited: float) -> None:
    assert expected(seconds, waited) > waited
    assert expected(seconds, waited) >= seconds * (1 - 1e-9)


def test_a_pace_is_scaled() -> None:
    assert ItemTime(2, 3).times(2) == ItemTime(4, 6)
