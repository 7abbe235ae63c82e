"""A run that is killed and resumed ends like one that never was; two processes never share a folder."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.evaluation import running
from tests.evaluation.running import FUNCTIONS, answered, reports, resume, run, wait_for_an_answer

KILLS = int(os.environ.get("COUNTERLENS_KILLS", "2"))  # many more by hand
SEED = 20
SLOW = "slow"


def bench(place: Path, folder: Path, *more: str) -> list[str]:
    """The command of a run of the slow toy, with few changes without a meaning."""
    return running.bench(place, folder, "--placebos", "1", *more, model=SLOW)


@pytest.fixture(scope="module")
def uninterrupted(place: Path, toys: None) -> Path:  # noqa: ARG001
    """A finished run of the slow toy."""
    folder = place / "slow"
    done = run(bench(place, folder))
    assert done.returncode == 0, done.stderr
    assert f"All {FUNCTIONS} functions" in done.stdout
    return folder


@pytest.mark.timeout(300 + 60 * KILLS)
def test_killed_runs_end_with_the_same_tables_and_ask_nothing_twice(place: Path, uninterrupted: Path) -> None:
    expected, asked = reports(uninterrupted), answered(uninterrupted)
    assert all(expected)
    draw = random.Random(SEED)  # noqa: S311
    kills = rounds = 0
    while kills < KILLS:
        folder = place / f"killed{rounds}"
        rounds += 1
        while True:
            before = answered(folder)
            process = subprocess.Popen(
                bench(place, folder, "--resume"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            if kills < KILLS and killed_in_the_middle(process, folder, draw, len(asked)):
                kills += 1
                assert before.items() <= answered(folder).items()
                continue
            _, said = process.communicate()
            assert process.returncode == 0, said.decode()
            break
        assert answered(folder).keys() == asked.keys()
        assert before.items() <= answered(folder).items()
        assert reports(folder) == expected


def killed_in_the_middle(
    process: subprocess.Popen[bytes], folder: Path, draw: random.Random, most: int
) -> bool:
    """Kill a run some time after it has a drawn number of answers, unless it ends before that."""
    known, moment = draw.randrange(most), draw.uniform(0, 0.4)
    while process.poll() is None and len(answered(folder)) < known:
        time.sleep(0.02)
    try:
        process.wait(timeout=moment)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return True
    return False


@pytest.mark.usefixtures("toys", "interruptible")
def test_a_second_process_is_refused_and_ctrl_c_says_how_to_go_on(place: Path) -> None:
    folder = place / "shared"
    first = subprocess.Popen(
        bench(place, folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SLOW_SECONDS": "300"},  # it cannot be done before it is interrupted
    )
    try:
        wait_for_an_answer(folder, first)
        second = run(bench(place, folder, "--resume"))
        assert second.returncode == 1
        assert f"another process is using {folder}" in second.stderr
        assert "Traceback" not in second.stderr
        for _ in range(2):  # as `timeout` does: the second one must not break the clean-up of the first
            first.send_signal(signal.SIGINT)
            time.sleep(0.01)
        _, said = first.communicate(timeout=60)
    finally:
        first.kill()
    assert first.returncode == 130, said
    assert f"resume with: counterlens bench --resume --out {folder}" in said
    assert "Traceback" not in said
    resumed = run(resume(folder))
    assert resumed.returncode == 0, resumed.stderr


def test_replay_asks_anew_and_finds_the_same(uninterrupted: Path) -> None:
    folder = uninterrupted
    command = [sys.executable, "-m", "counterlens", "replay", str(folder), "0", "--allow-weaker-sandbox"]
    done = run(command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same" in done.stdout
    database = sqlite3.connect(folder / "run.sqlite")
    database.execute("UPDATE records SET body = replace(body, 'if-else-flip', 'if-else-flop')")
    database.commit()
    damaged = run(command)
    assert damaged.returncode == 1
    assert "its content was changed" in damaged.stderr
    database.execute("DELETE FROM checksums WHERE part = 'records'")  # as if this had been stored
    database.commit()
    database.close()
    changed = run(command)
    assert changed.returncode == 1
    assert 'mutation: "if-else-flop", now "if-else-flip"' in changed.stdout
