"""Pass rates of drawn completions: intervals that cover, and ends that chance does not call."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.metrics.pass_rates import (
    PassCount,
    RateFinding,
    finding,
    level_of,
    looks,
    mean_difference,
    pass_at,
    rate_difference,
)

COUNTS = st.integers(1, 40).flatmap(lambda n: st.integers(0, n).map(lambda passed: PassCount(passed, n)))


@cache
def said(passed: int, other: int, n: int, most: int) -> RateFinding:
    return finding(PassCount(passed, n), PassCount(other, n), most)


def ends(original: float, counterfactual: float, most: int, runs: int = 4000) -> dict[RateFinding, float]:
    """How often drawing ends with each finding, of two sides whose pass rates are known."""
    chance = np.random.default_rng(0)
    before = np.cumsum(chance.random((runs, most)) < original, axis=1)
    after = np.cumsum(chance.random((runs, most)) < counterfactual, axis=1)
    counted = dict.fromkeys(RateFinding, 0)
    for run in range(runs):
        found = RateFinding.OPEN
        for n in looks(most):
            found = said(int(before[run, n - 1]), int(after[run, n - 1]), n, most)
            if found is not RateFinding.OPEN:
                break
        counted[found] += 1
    return {name: count / runs for name, count in counted.items()}


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5, 0.9])
def test_where_nothing_moves_drawing_says_so_in_less_than_a_twentieth(rate: float) -> None:
    assert ends(rate, rate, 20)[RateFinding.MOVED] < 0.05


@pytest.mark.parametrize("rates", [(1.0, 0.9), (0.97, 0.87), (0.02, 0.12)])
def test_a_difference_of_a_tenth_is_said_to_be_none_in_less_than_a_twentieth(
    rates: tuple[float, float],
) -> None:
    assert 0 < ends(*rates, 200)[RateFinding.HELD] < 0.05


@pytest.mark.parametrize(("rate", "most"), [(1.0, 56), (0.95, 120)])
def test_a_model_that_holds_is_said_to_with_enough_draws(rate: float, most: int) -> None:
    assert ends(rate, rate, most, runs=400)[RateFinding.HELD] > 0.5
    assert ends(rate, rate, 20, runs=400)[RateFinding.HELD] == 0


def test_a_large_difference_is_found_and_found_early() -> None:
    assert ends(0.85, 0.2, 20)[RateFinding.MOVED] > 0.9


def coverage(original: float, counterfactual: float, n: int, level: float) -> float:
    """How often the interval holds the difference of two known pass rates: exactly, over all counts."""

    def weight(passed: int, rate: float) -> float:
        return math.comb(n, passed) * rate**passed * (1 - rate) ** (n - passed)

    covered = 0.0
    for before, after in product(range(n + 1), repeat=2):
        found = rate_difference(PassCount(before, n), PassCount(after, n), level)
        assert found.low is not None
        assert found.high is not None
        if found.low <= counterfactual - original <= found.high:
            covered += weight(before, original) * weight(after, counterfactual)
    return covered


@pytest.mark.parametrize("n", [10, 16, 24])
def test_intervals_cover_over_all_rates(n: int) -> None:
    rates = np.linspace(0.05, 0.95, 7).tolist()
    single = [coverage(one, other, n, 0.95) for one, other in product(rates, repeat=2)]
    assert 0.94 <= np.mean(single) <= 0.97
    assert min(single) > 0.9
    assert min(coverage(one, 0.5, n, level_of(n)) for one in rates) >= 0.95


@given(COUNTS, COUNTS)
def test_the_interval_holds_the_difference_and_turns_with_the_sides(one: PassCount, other: PassCount) -> None:
    there, back = rate_difference(one, other), rate_difference(other, one)
    assert there.value is not None
    assert there.low is not None
    assert there.high is not None
    assert -1 <= there.low <= there.value <= there.high <= 1
    assert there.low < there.high
    assert back.low == pytest.approx(-there.high)
    assert back.high == pytest.approx(-there.low)


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_choices_with_one_that_passes(drawn: tuple[int, int, int]) -> None:
    n, passed, k = drawn
    choices = list(combinations([True] * passed + [False] * (n - passed), k))
    assert pass_at(k, PassCount(passed, n)) == pytest.approx(sum(map(any, choices)) / len(choices))


def test_pass_at_more_than_was_drawn_is_not_known() -> None:
    assert pass_at(5, PassCount(2, 4)) is None


@pytest.mark.parametrize(("most", "expected"), [(1, (1,)), (4, (4,)), (8, (4, 6, 8)), (20, (5, 10, 15, 20))])
def test_looks_end_at_the_most(most: int, expected: tuple[int, ...]) -> None:
    assert looks(most) == expected


def test_the_mean_difference_takes_functions_as_independent() -> None:
    pairs = [(f"f{i // 3}", PassCount(7, 10), PassCount(3, 10)) for i in range(30)]
    found = mean_difference(pairs)
    assert found.value == pytest.approx(-0.4)
    assert found.n == 10
    assert found.low is not None
    assert found.low < -0.4


def test_the_mean_over_pairs_covers_though_drawing_ends_early() -> None:
    """Of the first draws, which all pairs have; of all draws it is too far from 0, as is shown beside it."""
    chance, most, functions, each, runs = np.random.default_rng(1), 20, 40, 3, 150
    first, held, early = looks(most)[0], 0, []
    for _ in range(runs):
        original = chance.beta(4, 2, (functions, each, 1))
        changed = np.clip(original - 1 / 3, 0, 1)
        truth = float((changed - original).mean())
        drawn = [
            np.cumsum(chance.random((functions, each, most)) < rate, axis=2) for rate in (original, changed)
        ]
        pairs, all_draws = [], []
        for i, j in product(range(functions), range(each)):
            sides = [side[i, j] for side in drawn]
            pairs.append((i, *(PassCount(int(side[first - 1]), first) for side in sides)))
            ended = most
            for n in looks(most):
                if said(int(sides[0][n - 1]), int(sides[1][n - 1]), n, most) is not RateFinding.OPEN:
                    ended = n
                    break
            all_draws.append(float(sides[1][ended - 1] - sides[0][ended - 1]) / ended - truth)
        found = mean_difference(pairs)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
        early.append(np.mean(all_draws))
    assert held / runs > 0.9
    assert np.mean(early) < -0.01
