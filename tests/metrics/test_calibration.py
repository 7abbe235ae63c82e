"""Calibration figures, against generators whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from counterlens.metrics.calibration import Quality, quality


def generated(share: str, n: int = 6000) -> Quality:
    """Of nodes of 100 functions whose true share of right ones is a known function of the confidence."""
    rng = np.random.default_rng(0)
    confidence = rng.random(n)
    truth = {"perfect": confidence, "overconfident": confidence**3}[share]
    right = (rng.random(n) < truth).astype(np.float64)
    return quality(confidence, right, rng.integers(0, 100, n), rounds=200)


def test_a_perfectly_calibrated_generator_has_next_to_no_calibration_error() -> None:
    found = generated("perfect")
    assert found.ece.value < 0.03
    assert found.brier.value == pytest.approx(1 / 6, abs=0.01)  # the mean of p (1 - p) over 0 to 1
    assert sum(one.n for one in found.bins) == found.n == 6000
    assert all(one.right == pytest.approx(one.confidence, abs=0.08) for one in found.bins)


def test_an_overconfident_one_has_the_error_that_it_must_have() -> None:
    found = generated("overconfident")
    assert found.ece.value == pytest.approx(1 / 4, abs=0.02)  # the mean of p - p cubed
    assert found.ece.low < 1 / 4 < found.ece.high
    assert found.brier.low < found.brier.value < found.brier.high


def test_intervals_are_those_of_functions_and_repeat() -> None:
    confidence, right = np.full(200, 0.9), np.repeat([0.0, 1.0], 100)
    few = quality(confidence, right, np.arange(200) // 25).brier
    many = quality(confidence, right, np.arange(200)).brier
    assert few == quality(confidence, right, np.arange(200) // 25).brier
    assert None not in (few.high, few.low, many.high, many.low)
    assert (few.high or 0) - (few.low or 0) > 3 * ((many.high or 0) - (many.low or 0))


def test_too_few_or_equal_functions_give_no_interval() -> None:
    confidence = np.full(200, 0.9)
    few = quality(confidence, np.repeat([0.0, 1.0], 100), np.arange(200) // 50)
    equal = quality(confidence, np.ones(200), np.arange(200) // 20)
    for estimate in (few.brier, few.ece, equal.brier, equal.ece):
        assert (estimate.low, estimate.high) == (None, None)
