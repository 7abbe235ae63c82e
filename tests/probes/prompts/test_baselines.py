"""What answers without a model would score, and when a report says so first."""

from __future__ import annotations

import pytest

from counterlens.probes.prompts.baselines import (
    FEWEST,
    ChanceComparison,
    baseline_table,
    first_words,
    share_right,
)


def test_the_best_constant_and_the_expected_random_answer() -> None:
    baseline = share_right("direct", ["1", "1", "2", "3"], 2, 1)
    assert baseline is not None
    assert (baseline.n, baseline.score, baseline.constant) == (4, 0.5, 0.5)
    assert baseline.random == pytest.approx(2 / 12)  # two ordered pairs of equal truths among twelve
    assert share_right("direct", [], 0, 0) is None
    alone = share_right("direct", ["1"], 1, 0)
    assert alone is not None
    assert (alone.constant, alone.random) == (1, 0)
    assert not baseline_table([alone]).rows


@pytest.mark.parametrize(("right", "weak"), [(3, True), (4, True), (5, False)])
def test_a_model_that_is_no_better_is_told_first(right: int, weak: bool) -> None:
    truths = ["a"] * 4 + [str(number) for number in range(FEWEST - 4)]
    baseline = share_right("direct", truths, right, 0)
    assert baseline is not None
    assert baseline.no_better is weak
    told = (
        f"The model does no better than an answer without a model (direct): {right / FEWEST:.2f}, a constant "
        "answer 0.40, a random one 0.13. "
    )
    assert first_words([baseline]) == (told if weak else "")


def test_few_questions_say_nothing() -> None:
    baseline = share_right("direct", ["a"] * (FEWEST - 1), 0, 0)
    assert baseline is not None
    assert not baseline.no_better


def test_copies_are_counted() -> None:
    said = first_words(
        [
            ChanceComparison("data F1", 6, 0.5, 0.4, 0.1, 5),
            ChanceComparison("control F1", 6, 0.5, 0.4, 0.1, 0),
        ]
    )
    assert said == "5 of 12 answers repeat a worked example of the prompt. "
