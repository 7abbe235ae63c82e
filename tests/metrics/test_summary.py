"""Effects of many pairs: counts, direction, intervals and McNemar's test."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from counterlens.metrics.effects import Effect, wilson
from counterlens.metrics.summary import (
    INDEPENDENT,
    Observation,
    mcnemar_exact,
    sign_flip_exact,
    summaries_by,
    summarize,
)

EFFECTS = st.none() | st.builds(Effect, st.booleans(), st.booleans())
OBSERVATIONS = st.lists(
    st.builds(
        Observation,
        EFFECTS,
        st.sampled_from(["flip", "rename"]),
        st.sampled_from(["control flow", "naming"]),
        st.sampled_from([f"f{i}" for i in range(20)]),
        st.just("a.py"),
    ),
    max_size=60,
)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_exact_binomial_test(lost: int, gained: int) -> None:
    found = mcnemar_exact(lost, gained)
    if lost + gained == 0:
        assert found is None
    else:
        assert found == pytest.approx(binomtest(lost, lost + gained).pvalue)


BALANCES = st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.booleans()), max_size=12)


@given(BALANCES)
def test_the_sign_flip_test_is_all_signs_of_the_functions_tried(pairs: list[tuple[int, bool, bool]]) -> None:
    effects = [(cluster, Effect(before, after)) for cluster, before, after in pairs]
    balances = [sum(e.signed for c, e in effects if c == cluster) for cluster in {c for c, _ in effects}]
    p = sign_flip_exact(effects)
    if all(before == after for _, before, after in pairs):
        assert p is None
        return
    sums = [
        sum(s * b for s, b in zip(signs, balances, strict=True))
        for signs in product((1, -1), repeat=len(balances))
    ]
    assert p == pytest.approx(sum(abs(total) >= abs(sum(balances)) for total in sums) / len(sums))


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_with_one_pair_per_function_the_sign_flip_test_is_mcnemars(gained: list[bool]) -> None:
    p = sign_flip_exact((number, Effect(not gain, gain)) for number, gain in enumerate(gained))
    assert p == pytest.approx(mcnemar_exact(gained.count(False), gained.count(True)))


def test_the_pairs_of_one_function_are_no_evidence_about_others() -> None:
    lost = Effect(True, False)
    assert sign_flip_exact(("f", lost) for _ in range(20)) == 1.0
    assert sign_flip_exact((f"f{number}", lost) for number in range(20)) == pytest.approx(2**-19)


@given(OBSERVATIONS)
def test_every_pair_is_counted_once(seen: list[Observation]) -> None:
    found = summarize(seen)
    held = found.average.n - found.lost - found.gained
    assert found.pairs == found.unjudged + found.uninformative + found.lost + found.gained + held
    assert found.average.count == found.lost + found.gained
    parts = summaries_by(seen, lambda one: one.mutation)
    assert sum(part.pairs for part in parts.values()) == found.pairs
    assert sum(part.lost for part in parts.values()) == found.lost
    if found.signed is not None:
        assert found.average.value is not None
        assert abs(found.signed) <= found.average.value + 1e-12


@given(OBSERVATIONS)
def test_the_interval_holds_the_average_and_says_where_it_comes_from(seen: list[Observation]) -> None:
    found = summarize(seen)
    informative = {one.cluster for one in seen if one.effect and one.effect.informative}
    assert found.functions == len(informative)
    assert (found.method == INDEPENDENT) == (len(informative) in (1, found.average.n))
    if found.average.value is not None:
        assert found.average.low is not None
        assert found.average.high is not None
        assert 0 <= found.average.low <= found.average.value <= found.average.high <= 1
        assert found.average.low < found.average.high


def test_pairs_of_one_function_are_drawn_together() -> None:
    def observations(per_function: int) -> list[Observation]:
        return [
            Observation(Effect(True, i % 2 == 0), "flip", "control flow", f"f{i}", "a.py")
            for i in range(20)
            for _ in range(per_function)
        ]

    once, often = summarize(observations(1)), summarize(observations(30))
    assert once.average.low == often.average.low  # thirty copies of the same pair are no more evidence
    assert once.average.high == often.average.high


@pytest.mark.parametrize("functions", [10, 150])
@pytest.mark.parametrize("kept", [True, False])
def test_no_change_in_any_of_many_functions_is_no_certainty(functions: int, kept: bool) -> None:
    seen = [
        Observation(Effect(True, kept), "flip", "control flow", f"f{i}", "a.py") for i in range(functions)
    ]
    found = summarize(seen).average
    expected = wilson(0 if kept else functions, functions)
    assert found == expected
    assert (found.high or 0) - (found.low or 0) > 0.02


def test_pairs_of_one_function_alone_tell_of_that_function() -> None:
    seen = [Observation(Effect(True, i % 3 == 0), "flip", "c", "f", "a.py") for i in range(9)]
    assert summarize(seen).average == wilson(6, 9)
    assert summarize(seen).method == INDEPENDENT


def test_it_is_repeatable() -> None:
    seen = [Observation(Effect(True, i % 3 == 0), "m", "c", f"f{i}", "a.py") for i in range(30)]
    assert summarize(seen) == summarize(seen)
