"""Intervals of means of clustered observations: by definition, by other implementations, and at the edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from counterlens.metrics.bootstrap import (
    LEAST_CLUSTERS,
    Sample,
    bootstrap,
    mean,
    pooled_mean,
    student_quantile,
)
from counterlens.metrics.effects import pooled_share, wilson

GROUPS = st.lists(st.lists(st.booleans(), min_size=1, max_size=12), min_size=1, max_size=25)
SHARES = st.floats(0, 1).map(lambda x: round(x, 4))


def keyed(groups: Sequence[Sequence[float]]) -> list[tuple[int, float]]:
    return [(i, value) for i, group in enumerate(groups) for value in group]


def share(groups: Sequence[Sequence[bool]]) -> tuple[float, float, float]:
    shown = pooled_share((i, value) for i, group in enumerate(groups) for value in group)
    assert shown.value is not None
    assert shown.low is not None
    assert shown.high is not None
    return shown.low, shown.value, shown.high


@given(st.floats(0.51, 0.9999), st.integers(1, 1000))
def test_students_quantile_is_scipys(probability: float, degrees: int) -> None:
    expected = stats.t.ppf(probability, degrees)
    assert student_quantile(probability, degrees) == pytest.approx(expected, rel=1e-7)


@given(GROUPS)
def test_an_interval_of_a_share_holds_it_and_is_never_a_point(groups: list[list[bool]]) -> None:
    low, value, high = share(groups)
    assert 0 <= low <= value <= high <= 1
    assert high - low > 3 / (
        3 + sum(map(len, groups))
    )  # no narrower than what independent ones of 0 or 1 give


@given(GROUPS)
def test_what_is_false_has_the_mirrored_interval(groups: list[list[bool]]) -> None:
    low, value, high = share(groups)
    mirrored = share([[not each for each in group] for group in groups])
    assert mirrored == pytest.approx((1 - high, 1 - value, 1 - low), abs=1e-9)


@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_one_observation_a_cluster_is_wilsons_interval(values: list[bool]) -> None:
    assert pooled_share(enumerate(values)) == wilson(sum(values), len(values))


@given(st.lists(st.booleans(), min_size=2, max_size=30), st.integers(2, 20))
def test_copies_are_no_more_evidence(values: list[bool], copies: int) -> None:
    once, often = (share([[value] * n for value in values]) for n in (1, copies))
    assert often == pytest.approx(once)


@given(GROUPS)
def test_the_effective_size_is_between_that_of_copies_and_of_independent_ones(
    groups: list[list[bool]],
) -> None:
    sample = Sample.of(groups)
    n = sum(map(len, groups))
    least = n * n / sum(len(group) ** 2 for group in groups) if len(groups) > 1 else n
    assert least - 1e-9 <= sample.effective_size() <= n


def test_an_interval_is_wider_the_more_alike_a_clusters_observations_are() -> None:
    spread = share([[True, False, True, False, False]] * 12)
    alike = share([[True] * 5] * 5 + [[False] * 5] * 7 + [[True] * 2 + [False] * 3] * 0)
    assert spread[2] - spread[0] < 0.7 * (alike[2] - alike[0])


@given(st.lists(st.floats(-100, 100).map(lambda x: round(x, 3)), min_size=2, max_size=30))
def test_independent_means_have_students_interval(values: list[float]) -> None:
    shown = pooled_mean(enumerate(values))
    if len(set(values)) == 1:
        assert (shown.low, shown.high) == (None, None)
        return
    expected = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
    assert (shown.low, shown.high) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_the_variance_of_clusters_of_one_size_is_that_of_their_means() -> None:
    groups = [[1.0, 2.0, 4.0], [8.0, 9.0, 9.5], [3.0, 2.5, 6.0], [0.0, 1.0, -1.0]]
    averages = [sum(group) / 3 for group in groups]
    assert Sample.of(groups).variance == pytest.approx(stats.sem(averages) ** 2)


@given(st.lists(st.lists(SHARES, min_size=1, max_size=5), min_size=1, max_size=12))
def test_means_of_what_is_bounded_stay_between_the_bounds(groups: list[list[float]]) -> None:
    shown = pooled_mean(keyed(groups), bounds=(0, 1))
    assert shown.value is not None
    assert shown.low is not None
    assert shown.high is not None
    assert -1e-9 <= shown.low <= shown.value + 1e-9
    assert shown.value - 1e-9 <= shown.high <= 1 + 1e-9
    assert shown.low < shown.high
    moved = pooled_mean([(i, 10 * value - 5) for i, value in keyed(groups)], bounds=(-5, 5))
    assert moved.low == pytest.approx(10 * shown.low - 5, abs=1e-6)
    assert moved.high == pytest.approx(10 * shown.high - 5, abs=1e-6)


def test_equal_values_are_no_certainty() -> None:
    assert pooled_mean([("a", 2.5), ("b", 2.5), ("c", 2.5)]).low is None
    assert pooled_mean([("a", 2.5)]).high is None
    all_alike = pooled_mean([(str(i), 1.0) for i in range(10)], bounds=(0, 1))
    assert (all_alike.value, all_alike.low) == (1, wilson(10, 10).low)


def test_equal_values_leave_room_for_as_many_others_as_a_share_of_none() -> None:
    none = pooled_mean(((i, 0) for i in range(48)), bounds=(0, 1))
    middle = pooled_mean(((i, 0) for i in range(48)), bounds=(-1, 1))
    assert none.low == 0
    assert none.high == pytest.approx(wilson(0, 48).high)
    assert (middle.low, middle.high) == pytest.approx((-(none.high or 0), none.high))
    whole = pooled_mean(((i, 1) for i in range(48)), bounds=(0, 1))
    assert (whole.low, whole.high) == pytest.approx((1 - (none.high or 0), 1))


def test_an_interval_ends_where_no_value_can_be() -> None:
    values = [("a", 0.0), ("b", 0.1), ("c", 0.9)]
    free, cut = pooled_mean(values), pooled_mean(values, least=0)
    assert free.low is not None
    assert free.low < 0
    assert (cut.value, cut.low, cut.high) == (free.value, 0, free.high)


def test_a_pooled_mean_counts_clusters() -> None:
    values = [("a", 1.0), ("a", 1.0), ("b", 0.0)]
    shown = pooled_mean(values)
    assert shown.value == pytest.approx(2 / 3)
    assert shown.n == 2
    assert shown.low is not None
    assert shown.high is not None
    assert shown.low < 0  # two clusters tell nearly nothing
    assert shown.high > 1
    within = pooled_mean(values, bounds=(0, 1))
    assert within.low is not None
    assert within.high is not None
    assert 0 <= within.low < 0.2
    assert 0.9 < within.high <= 1
    assert pooled_mean([]).value is None


def test_a_bootstrap_of_few_or_equal_clusters_says_that_it_does_not_know() -> None:
    few = bootstrap([float(i) for i in range(LEAST_CLUSTERS - 1)], mean)
    assert (few.value, few.low, few.high) == (2, None, None)
    equal = bootstrap([0.3] * 20, mean)
    assert equal.value == pytest.approx(0.3)
    assert (equal.low, equal.high) == (None, None)


def test_a_bootstrap_of_few_clusters_is_expanded() -> None:
    values = list(stats.norm.ppf((np.arange(10) + 0.5) / 10))
    shown = bootstrap(values, mean, resamples=20_000)
    expected = stats.t.interval(0.95, 9, 0, stats.sem(values))
    assert (shown.low, shown.high) == pytest.approx(expected, rel=0.07)
