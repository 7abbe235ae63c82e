"""Closed questions: figures beside what counting by hand gives, and priors that are taken out."""

from __future__ import annotations

import runpy
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.metrics.closed import (
    Closed,
    area,
    area_inside,
    less_prior,
    reciprocal_rank,
    share_above_chance,
    share_first,
)

ODDS = st.integers(-3, 3).map(float)
BINARY = st.lists(st.tuples(st.sampled_from("abcd"), ODDS, st.booleans()), min_size=1, max_size=20)


def yes_no(function: str, odds: float, right: bool) -> Closed:
    return Closed(function, ("yes", "no"), (odds, 0.0), frozenset({0 if right else 1}))


def by_hand(questions: list[Closed]) -> tuple[float, int]:
    """Pairs of a question with yes and one with no that are in the right order, and all pairs."""
    pairs = [
        (first.logprobs[0], second.logprobs[0])
        for first, second in product(questions, questions)
        if 0 in first.right and 0 not in second.right
    ]
    return sum((a > b) + (a == b) / 2 for a, b in pairs), len(pairs)


@given(BINARY)
def test_the_area_is_the_share_of_pairs_in_the_right_order(drawn: list[tuple[str, float, bool]]) -> None:
    questions = [yes_no(*each) for each in drawn]
    won, pairs = by_hand(questions)
    assert area(questions).value == (pytest.approx(won / pairs) if pairs else None)
    inside = [by_hand([each for each in questions if each.function == name]) for name in "abcd"]
    won, pairs = sum(each[0] for each in inside), sum(each[1] for each in inside)
    assert area_inside(questions).value == (pytest.approx(won / pairs) if pairs else None)


@pytest.mark.parametrize(("count", "right"), [(1, 1), (4, 1), (5, 2), (3, 3)])
def test_chance_is_that_of_all_orders(count: int, right: int) -> None:
    question = Closed("f", tuple(range(count)), (0.0,) * count, frozenset(range(right)))
    ranks = [1 + min(order.index(each) for each in range(right)) for order in permutations(range(count))]
    assert question.chance_rank == pytest.approx(np.mean([1 / rank for rank in ranks]))
    assert question.chance == pytest.approx(np.mean([rank == 1 for rank in ranks]))


def test_the_rank_of_the_likeliest_right_candidate_counts() -> None:
    question = Closed("f", ("a", "b", "c", "d"), (-1.0, -2.0, -3.0, -4.0), frozenset({1, 3}))
    assert reciprocal_rank([question]).value == 0.5
    tied = Closed("f", ("a", "b"), (-1.0, -1.0), frozenset({1}))
    assert reciprocal_rank([tied]).value == pytest.approx(1 / 1.5)


@given(st.floats(-20, 20), st.integers(0, 2**32 - 1))
def test_a_bias_to_one_answer_is_taken_out(bias: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    truths = [(f"f{at % 10}", bool((at // 10) % 2)) for at in range(40)]
    sure = [yes_no(name, bias + (1 if truth else -1) * rng.uniform(0.5, 1), truth) for name, truth in truths]
    assert share_first(less_prior(sure)).value == 1
    assert area(sure).value == 1
    assert share_above_chance(less_prior(sure)).value == 0.5


def test_questions_about_the_own_function_are_no_prior() -> None:
    asked = [yes_no("f", 1.0, right=True), yes_no("f", 3.0, right=True), yes_no("g", 0.0, right=False)]
    corrected = [each.logprobs[0] - each.logprobs[1] for each in less_prior(asked)]
    # The prior of f is what g has, 0; that of g is the mean of f's log-probabilities.
    assert corrected == pytest.approx([1.0, 3.0, -2.0])


def test_a_question_without_another_function_keeps_its_probabilities() -> None:
    question = Closed("f", (1, 2, 3), tuple(np.log([0.5, 0.3, 0.2])), frozenset({1}))
    (corrected,) = less_prior([question])
    assert corrected.logprobs == pytest.approx(question.logprobs)


def test_the_script_of_the_results_pages_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks" / "recompute"))
    choice = runpy.run_module("closed")["choice"]
    random = np.random.default_rng(3)
    asked, questions = [], []
    for number in range(60):
        k = int(random.integers(2, 9))
        values = random.normal(size=k) + np.linspace(1, 0, k)  # some answers are likely whatever is asked
        logprobs = tuple((values - np.logaddexp.reduce(values)).tolist())
        right = int(random.integers(k))
        asked.append((f"f{number // 3}", list(range(k)), list(logprobs), {right}, 0))
        questions.append(Closed(f"f{number // 3}", tuple(range(k)), logprobs, frozenset({right})))
    cells = choice(asked)
    for name, figure in (
        ("likeliest", share_first(questions)),
        ("beyond", share_above_chance(questions)),
        ("no prior", share_first(less_prior(questions))),
    ):
        assert cells[name]["value"] == pytest.approx(figure.value), name
    assert cells["likeliest"]["low"] == pytest.approx(share_first(questions).low)
    assert 0 < cells["beyond"]["p"] <= 1
