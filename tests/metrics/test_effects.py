"""The mutation effect, against the definition and an independent computation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.metrics.effects import Effect, average_mutation_effect, wilson

EFFECTS = st.lists(st.builds(Effect, st.booleans(), st.booleans()), max_size=40)


@given(EFFECTS)
def test_the_average_is_the_mean_over_informative_pairs(effects: list[Effect]) -> None:
    informative = [e for e in effects if e.original or e.counterfactual]
    average = average_mutation_effect(effects)
    assert average.n == len(informative)
    if not informative:
        assert average.value is None
        return
    assert average.value == pytest.approx(
        sum(abs(int(e.counterfactual) - int(e.original)) for e in informative) / len(informative)
    )
    assert average.low is not None
    assert average.high is not None
    assert 0 <= average.low <= average.value <= average.high <= 1


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_bounds_solve_their_equation(case: tuple[int, int]) -> None:
    count, n = case
    interval = wilson(count, n)
    share, z = count / n, 1.959963984540054
    for bound in (interval.low, interval.high):
        assert bound is not None
        assert (bound - share) ** 2 == pytest.approx(z**2 * bound * (1 - bound) / n, abs=1e-12)


def test_a_pair_that_fails_twice_tells_nothing() -> None:
    assert not Effect(False, False).informative
    assert Effect(True, False).signed == -1
    assert Effect(False, True).mutation_effect == 1
