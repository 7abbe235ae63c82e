"""The figures of a trace of dependences."""

from __future__ import annotations

import pytest

from counterlens.metrics.traces import Trace, TraceFigures, distance, judge

# a → b → c → d, and a loop of c on itself
DIRECT = {"a": {"b"}, "b": {"c"}, "c": {"c", "d"}}


@pytest.mark.parametrize(
    ("told", "steps", "right", "false", "left_out", "correct", "path"),
    [
        ("abcd", 3, 3, 0, 0, True, True),
        ("abccd", 4, 4, 0, 0, True, True),
        ("acd", 2, 1, 0, 1, False, False),  # b is left out
        ("ad", 1, 0, 0, 2, False, False),
        ("abd", 2, 1, 0, 1, False, False),
        ("bcd", 2, 2, 0, 0, True, False),  # CoRe counts it; it does not begin at a
        ("abc", 2, 2, 0, 0, True, False),
        ("dcba", 3, 0, 3, 0, False, False),
        ("aad", 2, 0, 1, 2, False, False),
        ("axd", 2, 0, 2, 0, False, False),
        ("a", 0, 0, 0, 0, False, False),
        ("", 0, 0, 0, 0, False, False),
    ],
)
def test_steps_are_judged_one_by_one(
    told: str, steps: int, right: int, false: int, left_out: int, correct: bool, path: bool
) -> None:
    found = judge(told, DIRECT, "a", "d")
    assert (found.steps, found.right, found.false, found.left_out) == (steps, right, false, left_out)
    assert (found.correct, found.path) == (correct, path)


def test_the_shortest_chain_has_at_least_one_step() -> None:
    assert distance(DIRECT, "a", "d") == 3
    assert distance(DIRECT, "c", "c") == 1
    assert distance(DIRECT, "a", "a") is None
    assert distance(DIRECT, "d", "a") is None


def test_figures_are_over_all_questions() -> None:
    found = TraceFigures.of(
        [judge("abcd", DIRECT, "a", "d"), judge("acx", DIRECT, "a", "d"), Trace(), Trace()]
    )
    assert (found.correct, found.path) == (0.25, 0.25)
    assert (found.right, found.false, found.left_out) == (0.25, 0.125, 0.25)
    assert TraceFigures.of([]).correct is None
