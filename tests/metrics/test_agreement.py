"""Agreement of sets of edges, against values computed by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.metrics.agreement import Agreement, closure, corpus
from counterlens.metrics.bootstrap import bootstrap

EDGES = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)))


def test_two_of_three_found_and_one_invented() -> None:
    found = Agreement.of({(1, 2), (1, 3), (4, 5)}, {(1, 2), (1, 3), (2, 3)})
    assert found == Agreement(true_positives=2, false_positives=1, false_negatives=1)
    assert found.precision == pytest.approx(2 / 3)
    assert found.recall == pytest.approx(2 / 3)
    assert found.f1 == pytest.approx(2 / 3)


def test_nothing_found_and_nothing_there_has_no_figure() -> None:
    assert Agreement().precision is None
    assert Agreement().recall is None
    assert Agreement().f1 is None
    assert Agreement(false_negatives=3).f1 == 0


def test_micro_and_macro_differ_where_functions_differ_in_size() -> None:
    functions = [Agreement(9, 1, 0), Agreement(0, 1, 1), Agreement()]
    both = corpus(functions, resamples=50)
    assert both.counts == Agreement(9, 2, 1)
    assert both.micro["precision"].value == pytest.approx(9 / 11)
    assert both.micro["recall"].value == pytest.approx(9 / 10)
    assert both.micro["f1"].value == pytest.approx(18 / 21)
    assert both.macro["precision"].value == pytest.approx((0.9 + 0) / 2)
    assert both.macro["recall"].value == pytest.approx((1 + 0) / 2)


def test_figures_of_functions_in_which_all_is_right_keep_an_interval() -> None:
    both = corpus([Agreement(3, 0, 0)] * 8, resamples=50)
    for figures in (both.micro, both.macro):
        assert figures["precision"].value == figures["precision"].high == 1
        assert 0.6 < (figures["precision"].low or 0) < 0.7  # as eight of eight
    assert (both.micro["f1"].low, both.micro["f1"].high) == (None, None)


def test_an_interval_is_repeatable_and_holds_the_figure() -> None:
    clusters = [0.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    one, again = (bootstrap(clusters, lambda chosen: sum(chosen) / len(chosen), seed=3) for _ in range(2))
    assert one == again
    assert one.low is not None
    assert one.high is not None
    assert 0 <= one.low < (one.value or 0) < one.high <= 1


def test_a_figure_of_nothing_is_none() -> None:
    assert bootstrap([], lambda _: 1.0).value is None


@given(EDGES)
def test_a_closure_is_transitive_and_the_smallest(edges: frozenset[tuple[int, int]]) -> None:
    closed = closure(edges)
    assert edges <= closed
    assert all((a, d) in closed for a, b in closed for c, d in closed if b == c)
    reached = {(a, b) for a, b in edges}
    for _ in range(6):
        reached |= {(a, d) for a, b in reached for c, d in edges if b == c}
    assert closed == reached


@given(EDGES, EDGES)
def test_precision_of_one_is_recall_of_the_other(
    one: frozenset[tuple[int, int]], other: frozenset[tuple[int, int]]
) -> None:
    assert Agreement.of(one, other).precision == Agreement.of(other, one).recall
    assert Agreement.of(one, other).f1 == Agreement.of(other, one).f1
