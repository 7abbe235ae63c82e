"""Rankings of edges, against values computed by hand and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ranking import (
    Cluster,
    at_threshold,
    auroc,
    auroc_interval,
    average_precision,
    best_threshold,
    cross_validated,
    permuted,
    stratified_auroc,
)

from counterlens.metrics.agreement import Agreement

PAIRS = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=40)


def arrays(pairs: list[tuple[int, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([a for a, _ in pairs], float), np.array([b for _, b in pairs], bool)


def test_auroc_by_hand() -> None:
    # of the four (true, other) pairs: 3 > 2, 3 > 0, 1 < 2, 1 > 0
    assert auroc(np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, False, True, False])) == 0.75
    assert auroc(np.array([1.0, 1.0]), np.array([True, False])) == 0.5
    assert auroc(np.array([1.0, 1.0]), np.array([True, True])) is None


def test_average_precision_by_hand() -> None:
    scores, labels = np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, False, True, False])
    assert average_precision(scores, labels) == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


@given(PAIRS)
def test_as_scikit_learn_has_them(pairs: list[tuple[int, bool]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    scores, labels = arrays(pairs)
    assume(0 < labels.sum() < len(labels))
    assert auroc(scores, labels) == pytest.approx(metrics.roc_auc_score(labels, scores))
    assert average_precision(scores, labels) == pytest.approx(metrics.average_precision_score(labels, scores))


@given(PAIRS)
def test_no_threshold_gives_a_better_f1(pairs: list[tuple[int, bool]]) -> None:
    scores, labels = arrays(pairs)
    assume(labels.any())
    cluster = Cluster(scores, labels)
    best = at_threshold(cluster, best_threshold(scores, labels)).f1 or 0
    assert all((at_threshold(cluster, t).f1 or 0) <= best + 1e-12 for t in set(scores.tolist()))


def test_what_tells_strata_apart_does_not_count() -> None:
    scores = np.array([5.0, 4.0, 1.0, 0.0])
    labels = np.array([True, True, False, False])
    assert auroc(scores, labels) == 1.0
    assert stratified_auroc(scores, labels, ["near", "near", "far", "far"]) is None
    assert stratified_auroc(scores, labels, ["a", "b", "a", "b"]) == 1.0


def test_a_threshold_comes_from_the_other_functions() -> None:
    same = Cluster(np.array([2.0, 1.0]), np.array([True, False]))
    odd = Cluster(np.array([20.0, 10.0]), np.array([True, False]))
    agreements, thresholds = cross_validated([same, same, same, odd], folds=4)
    assert agreements[3] == Agreement(1, 1, 0)  # both exceed what the others teach
    assert agreements[0] == Agreement(1, 0, 0)
    assert len(thresholds) == 4


def test_shuffled_edges_are_found_by_chance_alone() -> None:
    random = np.random.default_rng(0)
    clusters = [
        Cluster(labels + random.normal(0, 0.3, 12), labels == 1)
        for labels in (random.permutation([0] * 6 + [1] * 6) for _ in range(30))
    ]
    assert (auroc_interval(clusters, resamples=100).low or 0) > 0.95
    means = [auroc_interval(permuted(clusters, seed=i), resamples=1).value or 0 for i in range(40)]
    assert np.mean(means) == pytest.approx(0.5, abs=0.03)
