"""Rank correlation, against SciPy's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.metrics.association import spearman

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
        assert found.low is not None
        assert found.high is not None
        assert -1 - 1e-9 <= found.low <= found.high <= 1 + 1e-9
    else:
        assert found.value is None
