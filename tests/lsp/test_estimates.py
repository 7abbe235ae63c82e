"""About how long something takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterlens.lsp.estimates import ProbeTimeLeft, about, expected_seconds, note_pace


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("seconds", "words"), [(1, "about 5 s"), (43, "about 45 s"), (91, "about 2 min"), (600, "about 10 min")]
)
def test_a_time_is_no_more_exact_than_an_estimate(seconds: float, words: str) -> None:
    assert about(seconds) == words


def test_what_is_left_is_told_after_a_moment_at_the_pace_so_far() -> None:
    now = 0.0
    left = ProbeTimeLeft(lambda: now)
    now = 1.0
    assert left.after(0.5) is None  # too early to tell
    now = 10.0
    assert left.after(0.01) is None
    assert left.after(0.25) == pytest.approx(30.0)
    assert left.after(1.0) is None


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
