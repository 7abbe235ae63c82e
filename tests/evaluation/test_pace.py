"""How long a run will take, told before it is begun, and what a program that starts it is told."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterlens.evaluation.item_time import BESIDE
from counterlens.evaluation.pace import ExpectedTime, duration, known_paces, note_paces
from counterlens.evaluation.remaining import RemainingTime
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item
from tests.conftest import short_model
from tests.evaluation.running import command_of

CODE = '''def double(n):
    """Twice a number.

    >>> double(4)
    8
    """
    if n == 0:
        return 0
    return 2 * n
'''


def test_a_pace_is_that_of_the_same_model_asked_in_the_same_way() -> None:
    settings = RunSettings.of(["completion"], "repo:/x", {"max_tokens": 31}, models=("pace-test",))
    assert known_paces(settings) == {}
    now = 0.0
    item = Item(0, "i", "pace-test", "f", "f", "00", "completion")
    followed = RemainingTime([item], {"completion": {"f": 5 - BESIDE}}, clock=lambda: now)
    followed.begin(item)
    now = 10.0
    followed.end(item)
    note_paces(settings, followed)
    ((which, pace),) = known_paces(settings).items()
    assert which == ("pace-test", "completion")
    assert pace.per_prompt == pytest.approx(2.0)
    assert pace.of(5 - BESIDE) == pytest.approx(10.0)
    elsewhere = RunSettings.of(["completion"], "repo:/y", {"max_tokens": 31}, models=("pace-test",))
    (far,) = known_paces(elsewhere).values()
    assert far == replace(pace, weight=far.weight)
    assert far.weight < pace.weight  # its tests may take much longer
    other = RunSettings.of(["completion"], "repo:/x", {"max_tokens": 32}, models=("pace-test",))
    assert known_paces(other) == {}


def test_times_are_said_as_exactly_as_they_are_known() -> None:
    assert [duration(seconds) for seconds in (2, 42, 100, 7_199, 12_600)] == [
        "5 s",
        "40 s",
        "2 min",
        "2.0 h",
        "3.5 h",
    ]
    assert "trial" in str(ExpectedTime(100, rough=True))


def events(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    assert process.stdout is not None
    return [json.loads(line) for line in process.stdout]


@pytest.fixture
def code(tmp_path: Path) -> Path:
    (tmp_path / "double.py").write_text(CODE)
    return tmp_path


def started(code: Path, *more: str) -> subprocess.Popen[str]:
    command = command_of(
        "bench", "--data", f"repo:{code}", "--out", str(code / "run"), "--task", "likelihood"
    )
    command += ["--model", str(short_model()), "--progress", "json", "--trust", *more]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, text=True, **pipes)  # type: ignore[call-overload, no-any-return]


def test_a_program_is_told_the_plan_with_its_time_and_then_the_run(code: Path) -> None:
    with started(code, "--plan", "--trial") as process:
        told = events(process)
    assert process.returncode == 0
    plan = told[-1]
    assert (plan["event"], plan["functions"], plan["total"]) == ("plan", 1, 1)
    assert 0 < plan["seconds"] < 300
    assert not (code / "run").exists()
    with started(code) as process:
        told = events(process)
    assert process.returncode == 0
    names = [one["event"] for one in told]
    assert names.index("begun") < names.index("progress") < names.index("ended")
    assert (told[-1]["done"], told[-1]["total"]) == (1, 1)
    with started(code) as process:
        told = events(process)
    assert process.returncode == 1
    assert told[-1]["event"] == "error"
    assert "already contains a run" in told[-1]["message"]


def test_the_run_stops_when_its_input_ends(code: Path) -> None:
    with started(code) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 130
