"""About how long a piece of work in the editor takes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from counterlens.evaluation.time_left import StepsLeft, expected_seconds, note_pace
from counterlens.lsp.wording import about


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("seconds", "words"), [(1, "about 5 s"), (43, "about 45 s"), (91, "about 2 min"), (600, "about 10 min")]
)
def test_a_time_is_no_more_exact_than_an_estimate(seconds: float, words: str) -> None:
    assert about(seconds) == words


def test_the_rest_of_a_step_is_told_after_a_moment_at_its_pace() -> None:
    now = 0.0
    left = StepsLeft(clock=lambda: now)
    assert left.after("completing", 0.0) is None
    now = 1.0
    assert left.after("completing", 0.5) is None  # too early to tell
    now = 10.0
    assert left.after("completing", 0.51) == pytest.approx(10 * 0.49 / 0.51)
    assert not left.is_whole
    now = 11.0
    assert left.after("judging", 0.0) is None  # another step begins, with a pace of its own
    now = 21.0
    assert left.after("judging", 0.5) == pytest.approx(10.0)
    assert left.after("judging", 1.0) is None


def test_the_time_left_does_not_jump() -> None:
    now = 0.0
    left = StepsLeft(clock=lambda: now)
    shown = []
    left.after("completing", 0.0)
    for second, share in ((3, 0.05), (4, 0.4), (5, 0.8), (6, 0.81)):
        now = float(second)
        shown.append(left.after("completing", share))
    seconds = [value for value in shown if value is not None]
    assert len(seconds) == 4
    assert all(after >= (before - 1) / 1.11 for before, after in pairwise(seconds))
    assert all(after <= before * 1.11 for before, after in pairwise(seconds))


def test_an_expected_time_is_that_of_all_steps() -> None:
    now = 0.0
    left = StepsLeft(100.0, lambda: now)
    assert left.is_whole
    assert left.after("finding the tests", 0.0) == pytest.approx(100.0)
    now = 10.0
    assert left.after("completing", 0.0) == pytest.approx(90.0)
    now = 12.0
    assert left.after("judging", 0.9) == pytest.approx(88.0)  # a quick step does not change that
    now = 120.0
    assert left.after("judging", 0.9) is None  # it takes longer, and nobody knows how much


def test_a_pace_is_kept_by_model_and_task_and_cached_answers_do_not_count() -> None:
    assert expected_seconds("m", "completion", 4) is None
    note_pace("m", "completion", 4, 20.0)
    assert expected_seconds("m", "completion", 2) == pytest.approx(10.0)
    assert expected_seconds("m", "repair", 2) is None
    assert expected_seconds("n", "completion", 2) is None
    note_pace("m", "completion", 4, 0.1)  # all from the cache
    assert expected_seconds("m", "completion", 2) == pytest.approx(10.0)
    note_pace("m", "completion", 2, 20.0)
    assert expected_seconds("m", "completion", 2) == pytest.approx(15.0)
    note_pace("m", "completion", 0, 20.0)
    assert expected_seconds("m", "completion", 2) == pytest.approx(15.0)


def test_a_damaged_memory_says_nothing(tmp_path: Path) -> None:
    note_pace("m", "completion", 1, 5.0)
    (memory,) = tmp_path.rglob("editor-paces.json")
    memory.write_text('{"m completion": "soon"}')
    assert expected_seconds("m", "completion", 1) is None
