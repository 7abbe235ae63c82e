"""The noise floor: an effect beside that of nothing, with the interval and the test of their difference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import hypergeom

from counterlens.metrics.effects import Effect
from counterlens.metrics.noise_floor import AboveFloor, above_floor
from counterlens.metrics.summary import Observation


def pairs(function: str, changed: int, n: int, failed: int = 0) -> list[Observation]:
    """Pairs of one function: so many changed of n informative ones, and so many where both sides fail."""
    effects = [Effect(True, i >= changed) for i in range(n)] + [Effect(False, False)] * failed
    return [Observation(effect, "any", "any", function, "file") for effect in effects]


def of(*functions: tuple[tuple[int, int], tuple[int, int]]) -> AboveFloor:
    """Functions, each with (changed, n) of its pairs and of its placebos."""
    named = list(enumerate(functions))
    return above_floor(
        [pair for i, (mutated, _) in named for pair in pairs(str(i), *mutated)],
        [pair for i, (_, placebo) in named for pair in pairs(str(i), *placebo)],
    )


def test_the_difference_is_of_the_shares_and_the_jackknife_by_hand() -> None:
    found = of(((2, 4), (1, 2)), ((3, 4), (0, 2)), ((1, 2), (0, 4)))
    assert found.effect.value == pytest.approx(6 / 10)
    assert found.floor.value == pytest.approx(1 / 8)
    without = [4 / 6 - 0 / 6, 3 / 6 - 1 / 6, 5 / 8 - 1 / 4]
    difference = 6 / 10 - 1 / 8
    spread = 4.302652729696142 * math.sqrt(2 / 3 * sum((one - difference) ** 2 for one in without))
    assert found.difference.value == pytest.approx(difference)
    assert found.difference.low == pytest.approx(difference - spread)
    assert found.difference.high == pytest.approx(min(1.0, difference + spread))


def test_the_test_of_one_function_is_that_of_a_fourfold_table() -> None:
    found = of(((4, 5), (1, 6)))
    tails = [hypergeom(11, 5, 5).cdf(4), hypergeom(11, 5, 5).sf(3)]
    assert found.p == pytest.approx(min(1, 2 * min(tails)))


def test_the_test_of_several_functions_deals_out_the_labels_in_each() -> None:
    functions = ((2, 3), (0, 2)), ((1, 4), (1, 3)), ((3, 3), (1, 1))
    seen = sum(mutated for (mutated, _), _ in functions)
    random = np.random.default_rng(0)
    dealt = sum(random.hypergeometric(k + m, (n - k) + (o - m), n, 40_000) for (k, n), (m, o) in functions)
    expected = min(1.0, 2 * min((dealt <= seen).mean(), (dealt >= seen).mean()))
    assert of(*functions).p == pytest.approx(expected, abs=0.02)


def test_labels_that_are_all_alike_tell_nothing() -> None:
    assert of(((0, 4), (0, 3)), ((2, 2), (3, 3))).p is None
    assert of(((2, 4), (0, 0))).p is None


@pytest.mark.parametrize("functions", [1, 2, 5, 12, 40])
@pytest.mark.parametrize("counts", [((0, 3), (0, 3)), ((3, 3), (3, 3)), ((3, 3), (0, 3)), ((1, 3), (0, 3))])
def test_no_interval_is_a_point(functions: int, counts: tuple[tuple[int, int], tuple[int, int]]) -> None:
    found = of(*[counts] * functions).difference
    assert found.low is not None
    assert found.high is not None
    assert found.value is not None
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0.04


def test_few_placebos_that_never_change_are_no_proof_of_a_floor_of_nothing() -> None:
    """The jackknife alone would take 0 of 2 for certain."""
    found = of(*[((1, 4), (0, 0))] * 10, ((0, 4), (0, 2)))
    assert found.difference.low is not None
    assert found.difference.low < 0 < (found.difference.value or 0)
    assert not found.exceeded


def test_placebos_of_other_functions_do_not_count_and_failures_are_not_informative() -> None:
    mutated = pairs("here", 1, 2, failed=3)
    found = above_floor(mutated, [*pairs("here", 0, 2, failed=1), *pairs("elsewhere", 5, 5)])
    assert (found.effect.n, found.floor.n, found.floor.count, found.placebos) == (2, 2, 0, 3)


def test_without_placebos_nothing_is_known() -> None:
    found = above_floor(pairs("here", 1, 2), [])
    assert (found.placebos, found.difference.value, found.difference.low, found.p) == (0, None, None, None)
    assert found.exceeded is None


def test_a_large_effect_over_a_small_floor_is_told_from_noise_and_the_floor_itself_is_not() -> None:
    assert of(*[((3, 4), (0, 3)), ((4, 4), (1, 3))] * 8).exceeded
    assert of(*[((1, 4), (1, 3)), ((0, 4), (0, 3)), ((2, 4), (1, 3))] * 8).exceeded is False


def test_the_order_of_functions_is_of_no_account() -> None:
    functions = [((i % 4, 4), (i % 3, 3)) for i in range(9)]
    one, other = of(*functions), of(*functions)
    assert one == other
    named = [pair for i, (mutated, _) in enumerate(functions) for pair in pairs(str(i), *mutated)]
    placebo = [pair for i, (_, each) in enumerate(functions) for pair in pairs(str(i), *each)]
    assert above_floor(named[::-1], placebo[::-1]) == one
