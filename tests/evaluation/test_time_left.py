"""How long a run takes: at the rate of earlier runs, and at its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from contextvars import Context, copy_context
from pathlib import Path
from typing import Any

import pytest

from counterlens.cli.run_reporting import duration
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item
from counterlens.evaluation.time_left import BESIDE, TimeLeft, known_rates, note_rates
from counterlens.sandbox.base import Job
from counterlens.sandbox.registry import best_sandbox
from tests.conftest import short_model
from tests.evaluation.running import command_of

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "recorded_runs.jsonl").read_text())
"""A run with the prompts of each item in the plan, and events in order: the second, the item, what it did
(`begin`, `end`, or a number of programs or prompts) and the seconds that it took. The machine was idle."""


def item(position: int, model: str = "m", task: str = "completion") -> Item:
    return Item(position, f"{model}|{task}|f{position}", model, f"f{position}", "f", "00", task)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def ten(count: int) -> dict[str, dict[str, float]]:
    """Functions whose items are 10 units of work each."""
    return {"completion": {f"f{number}": 10 - BESIDE for number in range(count)}}


def test_nothing_is_said_before_half_an_item_is_done_and_then_by_work() -> None:
    clock, items = Clock(), [item(number) for number in range(4)]
    prompts = {"completion": {"f0": 0.0, "f1": 7.0, "f2": 7.0, "f3": 37.0}}
    left = TimeLeft(items, prompts, clock=clock)
    assert left.seconds() is None
    with left.following(items[0]):
        clock.now = 6
    assert left.seconds() is None  # it is 3 of 63 units
    with left.following(items[1]):
        clock.now = 26
    assert left.seconds() == pytest.approx(50 * 2)


def test_an_item_in_progress_counts_by_its_programs() -> None:
    clock, items = Clock(), [item(number) for number in range(3)]
    left = TimeLeft(items, ten(3), clock=clock)
    with left.following(items[0]):
        clock.now = 10
        for _ in range(15):
            left._count_program(items[0])
        assert left.seconds() == pytest.approx(50)  # half of it is done
        for _ in range(100):
            left._count_program(items[0])
        assert left.seconds() == pytest.approx(21 * 10 / 9)  # some of it is always left


def test_items_that_all_wait_for_the_model_are_not_nearly_done() -> None:
    """A run with many items in progress said "2 minutes" before its first item ended, and then 30."""
    clock, items = Clock(), [item(number) for number in range(40)]
    left = TimeLeft(items, ten(40), clock=clock)
    with ExitStack() as last:
        for each in items[1:20]:
            last.enter_context(left.following(each))
        with left.following(items[0]):
            for each in items[:20]:
                for _ in range(100):
                    left._count_program(each)
            clock.now = 30
            assert left.seconds() is None
        seconds = left.seconds()
        assert seconds is not None
        assert seconds >= 300  # some three of 40 items are done


def test_programs_are_followed_on_the_thread_of_their_item() -> None:
    items = [item(number) for number in range(2)]
    left = TimeLeft(items, ten(2))
    job = Job({"main.py": b""}, "main.py", Path(sys.executable))
    best_sandbox().run(job)
    with left.following(items[0]):
        best_sandbox().run(job)
        assert left._working[items[0]][1] == 1
    best_sandbox().run(job)
    assert left._programs == 1
    with pytest.raises(ValueError, match="broken"), left.following(items[1]):
        raise ValueError("broken")
    assert left.seconds() == 0


def test_the_rate_of_an_earlier_run_holds_until_this_one_has_its_own() -> None:
    clock, items = Clock(), [item(number) for number in range(40)]
    left = TimeLeft(items, ten(40), rates={("m", "completion"): 1.0}, clock=clock)
    assert left.seconds() == pytest.approx(400)
    for one in items[:20]:
        with left.following(one):
            clock.now += 20
    assert left.seconds() == pytest.approx(20 * 20, rel=0.15)


def test_tasks_of_one_model_differ_as_they_did_before() -> None:
    clock, items = Clock(), [item(0), item(1, task="summary")]
    prompts = {**ten(2), "summary": {"f1": 10 - BESIDE}}
    rates = {("m", "completion"): 1.0, ("m", "summary"): 5.0}
    left = TimeLeft(items, prompts, rates=rates, clock=clock)
    with left.following(items[0]):
        clock.now += 10
    assert left.seconds() == pytest.approx(50)


def test_items_in_work_together_take_less_time_together() -> None:
    clock, items = Clock(), [item(number) for number in range(6)]
    left = TimeLeft(items, ten(6), clock=clock)
    with ExitStack() as together:
        for one in items[:2]:
            together.enter_context(left.following(one))
        clock.now = 60
    assert left.seconds() == pytest.approx(4 * 60 / 2)
    assert left.rates() == {("m", "completion"): pytest.approx(3.0)}


def test_the_time_of_a_model_that_has_not_begun_is_unknown_without_earlier_runs() -> None:
    clock, items = Clock(), [item(number, "quick" if number < 2 else "slow") for number in range(5)]
    left = TimeLeft(items, ten(5), clock=clock)
    for one, took in ((items[0], 10), (items[1], 10), (items[2], 100)):
        assert left.seconds() is None
        with left.following(one):
            clock.now += took
    assert left.seconds() == pytest.approx(200)


def test_what_failed_is_no_longer_left_and_says_nothing_of_others_and_a_budget_ends_it() -> None:
    clock, items = Clock(), [item(number) for number in range(4)]
    left = TimeLeft(items, ten(4), most=60, clock=clock)
    with pytest.raises(ZeroDivisionError), left.following(items[0]):
        clock.now = 1 / 0
    assert left.seconds() is None
    with left.following(items[1]):
        clock.now = 31
    assert left.seconds() == 29  # two of 30 s are left, and 29 s of the budget


def moments(run: dict[str, Any]) -> list[tuple[float | None, float]]:
    """For each second of a run, the estimate and the truth."""
    clock, items = Clock(), [item(number) for number in range(len(run["prompts"]))]
    prompts = {f"f{number}": float(count) for number, count in enumerate(run["prompts"])}
    left = TimeLeft(items, {"completion": prompts}, clock=clock)
    total, look, following = run["events"][-1][0], 1.0, dict[int, Any]()
    contexts = dict[int, Context]()
    pairs = []
    for at, number, what, _seconds in run["events"]:
        while look < min(at, total):
            clock.now = look
            pairs.append((left.seconds(), total - look))
            look += 1
        clock.now = at
        if what == "begin":
            following[number] = left.following(items[number])
            contexts[number] = copy_context()  # each item has a thread of its own
            contexts[number].run(following[number].__enter__)
        elif what == "end":
            contexts[number].run(following[number].__exit__, None, None, None)
        elif what[0] == "programs":
            for _ in range(what[1]):
                left._count_program(items[number])
    return pairs


def test_a_recorded_run_is_foreseen_within_a_factor_of_two_at_nine_of_ten_moments() -> None:
    pairs = moments(RECORDED)
    right = [said is not None and truth / 2 <= said <= 2 * truth for said, truth in pairs]
    assert sum(right) >= 0.9 * len(right)


def test_a_rate_is_that_of_the_same_model_asked_in_the_same_way() -> None:
    settings = RunSettings.of(["completion"], "repo:/x", {"max_tokens": 31}, models=("rate-test",))
    assert known_rates(settings) == {}
    clock = Clock()
    one = Item(0, "i", "rate-test", "f", "f", "00", "completion")
    left = TimeLeft([one], {"completion": {"f": 5 - BESIDE}}, clock=clock)
    with left.following(one):
        clock.now = 10.0
    note_rates(settings, left)
    assert known_rates(settings) == {("rate-test", "completion"): pytest.approx(2.0)}
    elsewhere = RunSettings.of(["completion"], "repo:/y", {"max_tokens": 31}, models=("rate-test",))
    assert known_rates(elsewhere) == known_rates(settings)
    other = RunSettings.of(["completion"], "repo:/x", {"max_tokens": 32}, models=("rate-test",))
    assert known_rates(other) == {}


def test_times_are_said_as_exactly_as_they_are_known() -> None:
    assert [duration(seconds) for seconds in (2, 42, 100, 7_199, 12_600)] == [
        "5 s",
        "40 s",
        "2 min",
        "2.0 h",
        "3.5 h",
    ]


CODE = '''def double(n):
    """Twice a number.

    >>> double(4)
    8
    """
    if n == 0:
        return 0
    return 2 * n
'''


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
    command += ["--model", str(short_model(endless=True)), "--progress", "json", "--trust", *more]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "XDG_CACHE_HOME": str(code / ".cache")}  # no rates of other runs
    return subprocess.Popen(command, text=True, env=environment, **pipes)  # type: ignore[call-overload, no-any-return]


def test_a_program_is_told_the_plan_with_its_time_and_then_the_run(code: Path) -> None:
    with started(code, "--plan") as process:
        told = events(process)
    assert process.returncode == 0
    plan = told[-1]
    assert (plan["event"], plan["functions"], plan["total"]) == ("plan", 1, 1)
    assert plan["seconds"] is None  # no run has shown it yet
    assert not (code / "run").exists()
    with started(code) as process:
        told = events(process)
    assert process.returncode == 0
    names = [one["event"] for one in told]
    assert names.index("begun") < names.index("progress") < names.index("ended")
    assert (told[-1]["done"], told[-1]["total"]) == (1, 1)
    with started(code, "--plan") as process:
        assert 0 < events(process)[-1]["seconds"] < 300
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
