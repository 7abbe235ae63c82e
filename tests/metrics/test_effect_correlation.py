"""Correlation of effects between mutations: built so that the answer is known."""

from __future__ import annotations

import pytest

from counterlens.evaluation.effects import effect_correlations
from counterlens.metrics.effects import Effect
from counterlens.metrics.summary import Observation


def seen(mutation: str, function: int, changed: bool) -> Observation:
    return Observation(Effect(True, not changed), mutation, "c", f"f{function}", "a.py")


def test_effects_that_go_together_are_told_from_those_that_do_not() -> None:
    pairs = []
    for i in range(40):
        pairs += [seen("a", i, i % 2 == 0), seen("b", i, i % 2 == 0), seen("c", i, i % 4 < 2)]
    found = effect_correlations(pairs)
    assert set(found) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert found["a", "b"].value == pytest.approx(1)
    assert found["a", "c"].value == pytest.approx(0)
    assert found["a", "c"].n == 40
    assert found == effect_correlations(pairs)


def test_the_pairs_of_a_function_are_one_value() -> None:
    pairs = []
    for i in range(12):
        pairs += [seen("a", i, i % 3 == 0), seen("a", i, i % 3 != 2), seen("b", i, i % 3 == 0)]
    expected = {0: (1.0, 1), 1: (0.5, 0), 2: (0.0, 0)}
    values = [expected[i % 3] for i in range(12)]
    mean_a, mean_b = (sum(column) / 12 for column in zip(*values, strict=True))
    covariance = sum((a - mean_a) * (b - mean_b) for a, b in values)
    spread = (sum((a - mean_a) ** 2 for a, _ in values) * sum((b - mean_b) ** 2 for _, b in values)) ** 0.5
    assert effect_correlations(pairs)["a", "b"].value == pytest.approx(covariance / spread)


def test_few_functions_and_uninformative_pairs_say_nothing() -> None:
    few = [seen(m, i, i % 2 == 0) for m in "ab" for i in range(9)]
    assert effect_correlations(few)["a", "b"].value is None
    assert effect_correlations(few)["a", "b"].n == 9
    failing = [Observation(Effect(False, False), m, "c", f"f{i}", "a.py") for m in "ab" for i in range(20)]
    assert effect_correlations(failing) == {}
