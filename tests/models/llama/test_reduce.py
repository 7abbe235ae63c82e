"""Logits to scores, against the plain definitions in float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.models.local.scoring import reduce


@given(
    st.integers(1, 5), st.integers(1, 1500), st.integers(0, 9), st.integers(0, 2**32), st.floats(0.01, 30.0)
)
def test_scores_are_those_of_the_definition(m: int, v: int, k: int, seed: int, spread: float) -> None:
    generator = np.random.default_rng(seed)
    logits = (generator.normal(0, spread, (m, v)) + generator.normal(0, 20)).astype(np.float32)
    targets = generator.integers(0, v, m)
    found = reduce(logits.copy(), targets, k)
    exact = logits.astype(np.float64)
    logprobs = exact - np.log(np.exp(exact - exact.max(1, keepdims=True)).sum(1, keepdims=True))
    logprobs -= exact.max(1, keepdims=True)
    np.testing.assert_allclose(found.logprob, logprobs[np.arange(m), targets], atol=2e-5)
    np.testing.assert_allclose(found.entropy, -(np.exp(logprobs) * logprobs).sum(1), atol=1e-4)
    mean = (np.exp(logprobs) * logprobs).sum(1, keepdims=True)
    variance = (np.exp(logprobs) * (logprobs - mean) ** 2).sum(1)
    np.testing.assert_allclose(found.deviation, np.sqrt(variance), atol=2e-2)
    np.testing.assert_allclose(found.deviation**2, variance, atol=5e-4)
    ranks = [(logits[i] > logits[i, targets[i]]).sum() for i in range(m)]
    np.testing.assert_array_equal(found.rank, ranks)
    kept = min(k, v)
    assert found.best.shape == (m, kept)
    for i in range(m):
        expected = np.sort(logits[i])[::-1][:kept]
        np.testing.assert_array_equal(logits[i, found.best[i]], expected)
        assert len(set(found.best[i].tolist())) == kept
    np.testing.assert_allclose(found.best_logprob, np.take_along_axis(logprobs, found.best, 1), atol=2e-5)


def test_a_large_vocabulary_costs_no_digits() -> None:
    logits = np.random.default_rng(1).normal(15, 3, (4, 262_144)).astype(np.float32)
    exact = logits.astype(np.float64)
    logprobs = exact - exact.max(1, keepdims=True)
    logprobs -= np.log(np.exp(logprobs).sum(1, keepdims=True))
    found = reduce(logits, np.arange(4), 5)
    np.testing.assert_allclose(found.entropy, -(np.exp(logprobs) * logprobs).sum(1), atol=2e-5)
    np.testing.assert_allclose(found.logprob, logprobs[np.arange(4), np.arange(4)], atol=2e-5)


def test_a_certain_token_has_probability_one_and_no_entropy() -> None:
    logits = np.full((1, 1000), -1e9, np.float32)
    logits[0, 7] = 100
    found = reduce(logits, np.array([7]), 3)
    assert found.logprob[0] == 0
    assert found.entropy[0] == pytest.approx(0)
    assert found.best[0, 0] == 7
