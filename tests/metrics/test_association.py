"""Correlation, against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.metrics.agreement import correlation, pearson, rank_correlation, spearman
from counterlens.metrics.bootstrap import LEAST_CLUSTERS, bootstrap

VALUES = st.integers(-5, 5)


def test_known_values() -> None:
    assert spearman([(1, 10), (2, 20), (3, 30)]).value == pytest.approx(1)
    assert spearman([(1, 9), (2, 8), (3, 1)]).value == pytest.approx(-1)
    assert spearman([(1, 1), (2, 1), (3, 1)]).value is None
    assert spearman([(1, 1), (2, 2)]).value is None


@given(st.lists(st.tuples(VALUES, VALUES), min_size=3, max_size=12))
def test_it_agrees_with_scipy(pairs: list[tuple[int, int]]) -> None:
    stats = pytest.importorskip("scipy.stats")
    found = spearman(pairs)
    if len({x for x, _ in pairs}) > 1 and len({y for _, y in pairs}) > 1:
        assert found.value == pytest.approx(stats.spearmanr(pairs).statistic, abs=1e-9)
        if len(pairs) < LEAST_CLUSTERS or abs(found.value or 0) > 1 - 1e-9:
            assert (found.low, found.high) == (None, None)  # nothing tells how far off it may be
        else:
            assert found.low is not None
            assert found.high is not None
            assert -1 - 1e-9 <= found.low < found.high <= 1 + 1e-9
    else:
        assert found.value is None


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=3, max_size=12))
def test_pearsons_agrees_with_numpy(pairs: list[tuple[float, float]]) -> None:
    found = correlation(pairs)
    columns = np.array(pairs).T
    if min(np.ptp(columns[0]), np.ptp(columns[1])) > 1e-3:
        assert found == pytest.approx(np.corrcoef(columns)[0, 1], abs=1e-6)


def test_pearsons_interval_is_seeded() -> None:
    pairs = [(0.1 * i, (i * 7) % 5 + 0.1 * i) for i in range(30)]
    one = pearson(pairs, seed=3)
    assert one == pearson(pairs, seed=3) != pearson(pairs, seed=4)
    assert one.low is not None
    assert one.value is not None
    assert one.high is not None
    assert one.low < one.value < one.high
    assert pearson([(0.1, 1), (0.1, 2), (0.1, 3)]).value is None


@pytest.mark.parametrize("n", [6, 250])
def test_intervals_are_those_of_a_bootstrap_that_computes_one_resample_after_the_other(n: int) -> None:
    # Few values, so there are ties, and with six of them resamples in which one side is constant.
    pairs = [(float(i % 3 > 0), (i % 3 > 0) + (i * 7) % 5 / 9) for i in range(n)]
    assert pearson(pairs, seed=2) == bootstrap(pairs, correlation, seed=2)
    assert spearman(pairs, seed=2) == bootstrap(pairs, rank_correlation, seed=2)
