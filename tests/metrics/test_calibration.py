"""Calibration figures and maps, against generators whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from counterlens.calibration.curves import Method, apply, cross_fitted, fit, fit_curve
from counterlens.errors import CounterlensError
from counterlens.metrics.calibration import Floats, Observations, Quality, brier_difference, quality

METHODS = [Method.ISOTONIC, Method.PLATT]


def generated(share: str, n: int = 6000, seed: int = 0) -> Observations:
    """Nodes of 100 functions whose true share of right ones is a known function of the confidence."""
    rng = np.random.default_rng(seed)
    confidence = rng.random(n)
    truth = {"perfect": confidence, "overconfident": confidence**3, "none": np.full(n, 0.3)}[share]
    return Observations(
        confidence=confidence,
        right=(rng.random(n) < truth).astype(np.float64),
        category=rng.choice(["operators", "types"], n),
        tokens=rng.choice([1, 3, 8, 20], n),
        group=rng.integers(0, 100, n),
    )


def of(seen: Observations, confidence: Floats | None = None) -> Quality:
    shown = seen.confidence if confidence is None else confidence
    return quality(shown, seen.right, seen.group, rounds=200)


def test_a_perfectly_calibrated_generator_has_next_to_no_calibration_error() -> None:
    found = of(generated("perfect"))
    assert found.ece.value < 0.03
    assert found.brier.value == pytest.approx(1 / 6, abs=0.01)  # the mean of p (1 - p) over 0 to 1
    assert sum(one.n for one in found.bins) == found.n == 6000
    assert all(one.right == pytest.approx(one.confidence, abs=0.08) for one in found.bins)


def test_an_overconfident_one_has_the_error_that_it_must_have() -> None:
    found = of(generated("overconfident"))
    assert found.ece.value == pytest.approx(1 / 4, abs=0.02)  # the mean of p - p cubed
    assert found.ece.low < 1 / 4 < found.ece.high
    assert found.brier.low < found.brier.value < found.brier.high


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("share", ["overconfident", "none"])
def test_a_map_mends_what_it_has_not_seen(method: Method, share: str) -> None:
    seen = generated(share)
    before, after = of(seen), of(seen, cross_fitted(seen, method))
    assert after.ece.high < before.ece.low
    assert after.brier.value < before.brier.value


def test_a_map_leaves_what_is_calibrated_as_it_is() -> None:
    seen = generated("perfect")
    assert np.abs(cross_fitted(seen, Method.PLATT) - seen.confidence).mean() < 0.04


@example([(0.75, False), (0.8125, True)], Method.PLATT)  # steep: drawn out, it came to 1
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30), st.sampled_from(METHODS))
def test_every_fitted_curve_is_monotone(nodes: list[tuple[float, bool]], method: Method) -> None:
    curve = fit_curve(np.array([c for c, _ in nodes]), np.array([float(r) for _, r in nodes]), method)
    values = [curve(x) for x in np.linspace(0, 1, 21).tolist()]
    assert all(0 < value < 1 for value in values)
    assert values == sorted(values)


def test_rare_categories_have_no_curve_of_their_own() -> None:
    seen = generated("perfect", n=400)
    seen.category[:50] = "testing"
    curves = fit(seen, least=100)
    assert {"all", "operators", "types", "all/13"} <= set(curves)
    assert not [key for key in curves if key.startswith("testing")]
    assert len(apply(curves, seen)) == 400


def test_categories_that_differ_are_told_apart() -> None:
    seen = generated("perfect")
    operators = seen.category == "operators"
    seen.right[operators] = 0.0
    mapped = cross_fitted(seen)
    assert mapped[operators].max() < 0.05
    assert mapped[~operators].mean() == pytest.approx(0.5, abs=0.05)


def test_intervals_are_those_of_functions_and_repeat() -> None:
    confidence, right = np.full(200, 0.9), np.repeat([0.0, 1.0], 100)
    few = quality(confidence, right, np.arange(200) // 25).brier
    many = quality(confidence, right, np.arange(200)).brier
    assert few == quality(confidence, right, np.arange(200) // 25).brier
    assert None not in (few.high, few.low, many.high, many.low)
    assert (few.high or 0) - (few.low or 0) > 3 * ((many.high or 0) - (many.low or 0))


def test_nodes_that_are_told_apart_cleanly_promise_no_certainty() -> None:
    curve = fit_curve(np.array([0.75, 0.75, 0.625]), np.array([1.0, 1.0, 0.0]), Method.PLATT)
    assert 0 < curve(0.0) < 0.01
    assert curve(0.625) < 0.5 < curve(0.75)
    assert 0.99 < curve(1.0) < 1


def test_too_few_or_equal_functions_give_no_interval() -> None:
    confidence = np.full(200, 0.9)
    few = quality(confidence, np.repeat([0.0, 1.0], 100), np.arange(200) // 50)
    equal = quality(confidence, np.ones(200), np.arange(200) // 20)
    for estimate in (few.brier, few.ece, equal.brier, equal.ece):
        assert (estimate.low, estimate.high) == (None, None)


def test_a_map_is_compared_with_none_function_by_function() -> None:
    seen = generated("overconfident")
    mended = brier_difference(seen.confidence, cross_fitted(seen), seen.right, seen.group, rounds=200)
    before, after = of(seen), of(seen, cross_fitted(seen))
    assert mended.value == pytest.approx(after.brier.value - before.brier.value)
    assert mended.high < 0
    # paired: narrower than the difference of two that know nothing of each other
    widths = [shown.brier.high - shown.brier.low for shown in (before, after)]
    assert mended.high - mended.low < max(widths) < sum(widths)
    fair = generated("perfect", n=600)
    kept = brier_difference(fair.confidence, cross_fitted(fair), fair.right, fair.group, rounds=200)
    assert kept.low < 0.01
    assert kept.high > 0
    same = brier_difference(seen.confidence, seen.confidence, seen.right, seen.group, rounds=50)
    assert (same.value, same.low, same.high) == (0, None, None)  # an interval is no point


def test_one_function_is_too_few() -> None:
    seen = generated("perfect", n=50)
    seen.group[:] = 1
    with pytest.raises(CounterlensError, match="two functions"):
        cross_fitted(seen)
