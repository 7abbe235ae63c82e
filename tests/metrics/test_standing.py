"""Two models on the same functions: who is right more often, and when that cannot be told."""

from __future__ import annotations

import random

import pytest

from counterlens.metrics.effects import Effect
from counterlens.metrics.significance import Adequacy, adequacy, compare_pairwise
from counterlens.metrics.summary import Observation, summarize


def seen(rate: float, functions: int, seed: int, pairs: int = 4, right: float = 1.0) -> list[Observation]:
    """Pairs of a model whose completions are wrong with some rate, which differs between functions."""
    draw = random.Random(seed)  # noqa: S311 - simulated data
    found = []
    for function in range(functions):
        own = min(1.0, max(0.0, rate + draw.choice([-0.1, 0.1])))
        for _ in range(pairs):
            effect = Effect(draw.random() < right * (1 - own), draw.random() < right * (1 - own))
            found.append(Observation(effect, "m", "c", f"f{function}", "file"))
    return found


def test_the_one_that_is_right_more_often_is_named_whichever_comes_first() -> None:
    steady, shaky = seen(0.1, 60, 1), seen(0.4, 60, 2)
    for pairs in ({"a": steady, "b": shaky}, {"b": shaky, "a": steady}):
        (found,) = compare_pairwise(pairs)
        assert (found.first, found.second) == ("a", "b")
        assert found.significant
    shares = [
        sum(one.effect.original + one.effect.counterfactual for one in some if one.effect) / 480
        for some in (steady, shaky)
    ]
    assert found.difference.value == pytest.approx(shares[0] - shares[1])
    assert found.difference.n == 60


def test_equal_models_are_rarely_told_apart_and_a_difference_as_large_as_planned_is() -> None:
    runs = [
        compare_pairwise({"a": seen(0.3, 40, 2 * i), "b": seen(0.3, 40, 2 * i + 1)})[0] for i in range(120)
    ]
    assert sum(one.significant for one in runs) <= 12
    needed = sorted(one.needed or 0 for one in runs)[60]
    told = [
        compare_pairwise({"a": seen(0.25, needed, 3 * i), "b": seen(0.35, needed, 3 * i + 1)})[0].significant
        for i in range(60)
    ]
    assert 36 <= sum(told) <= 57  # 80 % of 60 are 48


def test_few_functions_tell_nothing() -> None:
    (found,) = compare_pairwise({"a": seen(0.0, 4, 1), "b": seen(1.0, 4, 2)})
    assert not found.significant
    assert found.needed is None
    assert compare_pairwise({"a": seen(0.1, 9, 1)}) == ()
    assert compare_pairwise({"a": seen(0.1, 9, 1), "b": []}) == ()


def test_intervals_of_many_models_hold_together() -> None:
    (two,) = compare_pairwise({"a": seen(0.1, 30, 1), "b": seen(0.3, 30, 2)})
    many = compare_pairwise({name: seen(0.1, 30, 1) if name == "a" else seen(0.3, 30, 2) for name in "abcd"})
    assert len(many) == 6
    wider = many[0].difference
    assert wider.value == two.difference.value
    assert (wider.low or 0) < (two.difference.low or 0)


def test_a_model_is_too_weak_that_completes_few_originals() -> None:
    assert adequacy(summarize(seen(0.1, 60, 1, right=0.05))) is Adequacy.WEAK
    assert adequacy(summarize(seen(0.1, 30, 1))) is Adequacy.ADEQUATE
    assert adequacy(summarize([])) is Adequacy.ADEQUATE


def test_a_few_functions_do_not_show_that_a_model_is_too_weak() -> None:
    assert adequacy(summarize(seen(0.1, 2, 1, right=0.0))) is Adequacy.PERHAPS_WEAK
    assert adequacy(summarize(seen(0.1, 30, 1, right=0.0))) is Adequacy.WEAK
