"""Guessing by frequency, and what is better than that."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from counterlens.metrics.guessing import Guess, accuracy, by_chance

PAIR = ("and", "or")


def test_nothing_gives_nothing() -> None:
    assert accuracy([]) is None
    assert by_chance([], {}) is None


def test_a_frequent_answer_is_often_guessed_and_no_merit() -> None:
    guesses = [Guess("and", "and", PAIR)] * 30
    found = by_chance(guesses, {"and": 10_000, "or": 1})
    assert found is not None
    chance, each = found
    assert chance.mean > 0.99
    assert chance.p_value > 0.9
    assert each["and"].counts.f1 == 1.0
    assert each["or"].p_value is None


def test_a_balanced_sample_that_is_all_right_is_no_chance() -> None:
    guesses = [Guess(name, name, PAIR) for name in PAIR * 15]
    found = by_chance(guesses, {"and": 50, "or": 50}, simulations=1000)
    assert found is not None
    chance, each = found
    assert chance.mean == pytest.approx(0.5, abs=0.02)
    assert chance.p_value == pytest.approx(1 / 1001)
    assert each["or"].p_value == pytest.approx(1 / 1001)


def test_all_wrong_is_worse_than_chance() -> None:
    found = by_chance([Guess("and", "or", PAIR)] * 20, {"and": 1, "or": 1})
    assert found is not None
    assert found[0].p_value == 1.0
    assert found[1]["and"].counts.f1 == 0.0


def test_each_guess_draws_among_its_own_candidates_and_the_seed_decides() -> None:
    guesses = [Guess("and", "and", PAIR), Guess("is", "is", ("is", "is not"))] * 20
    found = by_chance(guesses, {}, seed=3)
    assert found == by_chance(guesses, {}, seed=3)
    assert found is not None
    assert found[0].mean == pytest.approx(0.5, abs=0.02)
    assert set(found[1]) == {"and", "or", "is", "is not"}


def test_figures_are_the_same_in_every_process() -> None:
    program = (
        "from counterlens.metrics.guessing import Guess, by_chance\n"
        "some, others = ('==', '!=', '<'), ('+', '-', '*', '/')\n"
        "guesses = [Guess('==', '==', some), Guess('+', '-', others), Guess('*', '*', others)]\n"
        "print(by_chance(guesses, {}))\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in range(4)
    }
    assert len(told) == 1
