"""Confidence sequences cover the mean at every moment at once, and become narrow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from counterlens.metrics.sequences import sequence_interval

RUNS, LENGTH = 200, 80
Draw = Callable[[np.random.Generator], np.ndarray]
DRAWN: dict[str, tuple[float, Draw]] = {
    "coins": (0.0, lambda rng: rng.choice([-1.0, 1.0], LENGTH)),
    "mostly right": (0.6, lambda rng: rng.choice([-1.0, 1.0], LENGTH, p=[0.2, 0.8])),
    "shares": (0.1, lambda rng: rng.uniform(-0.4, 0.6, LENGTH)),
    "rare": (-0.9, lambda rng: rng.choice([-1.0, 1.0], LENGTH, p=[0.95, 0.05])),
}


@pytest.mark.parametrize("name", DRAWN)
def test_the_mean_is_covered_at_every_moment(name: str) -> None:
    """The interval is the intersection of all before it, so the last one misses if any does."""
    mean, draw = DRAWN[name]
    rng = np.random.default_rng(5)
    intervals = [sequence_interval(draw(rng)) for _ in range(RUNS)]
    missed = sum(not low <= mean <= high for low, high in intervals)
    assert missed <= binom.ppf(0.999, RUNS, 0.05)
    assert np.mean([high - low for low, high in intervals]) < 0.9


@given(st.lists(st.floats(-1, 1), max_size=30), st.integers(0, 30))
def test_more_values_never_widen_it(values: list[float], first: int) -> None:
    before, after = sequence_interval(values[:first]), sequence_interval(values)
    inside = before[0] <= after[0] and after[1] <= before[1]
    assert inside or after == (-1, 1)  # no mean is possible: not one population
    assert -1 <= after[0] <= after[1] <= 1


def test_nothing_is_known_without_a_value_and_bounds_are_the_callers() -> None:
    assert sequence_interval([]) == (-1, 1)
    low, high = sequence_interval([5.0, 6.0] * 200, bounds=(0, 10))
    assert 4.5 < low < 5.5 < high < 6.5
