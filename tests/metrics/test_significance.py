"""Paired scores and families of tests, by their definitions."""

from __future__ import annotations

import itertools
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.errors import CounterlensError
from counterlens.metrics.significance import holm, signed_rank

SHARES = st.integers(0, 4).map(lambda n: n / 4)


@given(st.lists(st.tuples(SHARES, SHARES), max_size=7))
def test_few_pairs_are_tested_exactly(pairs: list[tuple[float, float]]) -> None:
    """Every way to give the differences their signs is as likely: count those at least as uneven."""
    found = signed_rank(pairs)
    differences = [after - before for before, after in pairs if after != before]
    assert (found.n, found.different) == (len(pairs), len(differences))
    if not differences:
        assert found.p is None
        return
    sizes = sorted(map(abs, differences))
    ranks = [
        (sizes.index(abs(one)) + 1 + len(sizes) - sizes[::-1].index(abs(one))) / 2 for one in differences
    ]
    half = sum(ranks) / 2
    seen = abs(sum(rank for rank, one in zip(ranks, differences, strict=True) if one > 0) - half)
    signs = list(itertools.product((0, 1), repeat=len(ranks)))
    extreme = sum(
        abs(sum(rank for rank, sign in zip(ranks, one, strict=True) if sign) - half) >= seen - 1e-9
        for one in signs
    )
    assert found.p == pytest.approx(extreme / len(signs))


def test_many_pairs_show_a_shift() -> None:
    shifted = signed_rank([(i / 100, i / 100 + 0.1 + i / 1000) for i in range(60)])
    assert shifted.p is not None
    assert shifted.p < 1e-6
    assert shifted.median == pytest.approx(0.1295)
    balanced = signed_rank([(0, (-1) ** i * (i // 2 + 1)) for i in range(60)])
    assert balanced.p == pytest.approx(1)


def test_equal_shares_get_no_rank() -> None:
    assert signed_rank([(0.1 + 0.2, 0.3)]).different == 0
    assert signed_rank([]).median is None


def test_without_scipy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(CounterlensError, match="SciPy"):
        signed_rank([(0, 1)])


@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0, 1))
def test_holm_rejects_what_its_step_down_procedure_rejects(values: list[float], level: float) -> None:
    rejected: set[int] = set()
    for rank, i in enumerate(sorted(range(len(values)), key=lambda i: values[i])):
        if values[i] * (len(values) - rank) > level:
            break
        rejected.add(i)
    adjusted = holm(values)
    assert {i for i, p in enumerate(adjusted) if p is not None and p <= level} >= rejected
    if level < 1:  # an adjusted p ends at 1
        assert {i for i, p in enumerate(adjusted) if p is not None and p <= level} == rejected


def test_tests_with_nothing_to_test_do_not_count() -> None:
    assert holm([None, 0.02, None, 0.04]) == [None, 0.04, None, 0.04]
