"""A run that is killed and resumed ends like one that never was; two processes never share a folder."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from counterlens.evaluation.figures import Found
from counterlens.reports.evaluation.text import run_csv, run_json, run_markdown
from tests.conftest import embedded_file

EXAMPLES = Path(__file__).parents[2] / "examples"
KILLS = int(os.environ.get("COUNTERLENS_KILLS", "3"))  # many more by hand
SEED = 20
FUNCTIONS = "4"


@pytest.fixture(scope="module", autouse=True)
def _needs_the_model() -> None:
    embedded_file()


def bench(place: Path, folder: Path, *more: str) -> list[str]:
    """The command of a small run with the real model."""
    command = [sys.executable, "-m", "counterlens", "bench", "--out", str(folder)]
    command += ["--data", f"repo:{place / 'code'}", "--limit", FUNCTIONS, "--max-tokens", "12"]
    command += ["--mutation", "if-else-flip", "--mutation", "operand-swap", "--threads", "1"]
    return [*command, "--allow-weaker-sandbox", *more]


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)


def reports(folder: Path) -> list[str]:
    """Every report on a run; one of them made by a process of its own, whose hashes differ from ours."""
    command = [sys.executable, "-m", "counterlens", "report", str(folder), "--format", "markdown"]
    found = Found.read(folder)
    return [run(command).stdout, run_markdown(found), run_json(found), run_csv(found)]


def answered(folder: Path) -> dict[bytes, float]:
    """When each answer of the model was kept."""
    path = folder / "answers.sqlite"
    if not path.exists():
        return {}
    with sqlite3.connect(path) as database:
        tables = database.execute("SELECT name FROM sqlite_master").fetchall()
        return dict(database.execute("SELECT key, time FROM answers")) if tables else {}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with code to ask about, and room for runs."""
    folder = tmp_path_factory.mktemp("evaluation")
    shutil.copytree(EXAMPLES, folder / "code")
    return folder


@pytest.fixture(scope="module")
def uninterrupted(place: Path) -> tuple[Path, float]:
    """A finished run, and how long it took."""
    folder, started = place / "whole", time.monotonic()
    done = run(bench(place, folder))
    assert done.returncode == 0, done.stderr
    assert f"All {FUNCTIONS} functions" in done.stdout
    return folder, time.monotonic() - started


@pytest.mark.timeout(300 + 60 * KILLS)
def test_killed_runs_end_with_the_same_tables_and_ask_nothing_twice(
    place: Path, uninterrupted: tuple[Path, float]
) -> None:
    whole, seconds = uninterrupted
    expected, asked = reports(whole), answered(whole)
    assert all(expected)
    draw = random.Random(SEED)  # noqa: S311
    kills = rounds = 0
    while kills < KILLS:
        folder = place / f"killed{rounds}"
        rounds += 1
        while True:
            before = answered(folder)
            process = subprocess.Popen(
                bench(place, folder, "--resume"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            try:
                patience = draw.uniform(0.3, 1.0) * seconds if kills < KILLS else 120
                _, said = process.communicate(timeout=patience)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                kills += 1
                after = answered(folder)
                assert before.items() <= after.items()
                continue
            assert process.returncode == 0, said.decode()
            break
        assert answered(folder).keys() == asked.keys()
        assert before.items() <= answered(folder).items()
        assert reports(folder) == expected


def test_a_second_process_is_refused_and_ctrl_c_says_how_to_go_on(place: Path) -> None:
    folder = place / "shared"
    first = subprocess.Popen(
        bench(place, folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        wait_for_an_answer(folder, first)
        second = run(bench(place, folder, "--resume"))
        assert second.returncode == 1
        assert f"another process is working on {folder}" in second.stderr
        assert "Traceback" not in second.stderr
        first.send_signal(signal.SIGINT)
        _, said = first.communicate(timeout=60)
    finally:
        first.kill()
    assert first.returncode == 130, said
    assert f"resume with: counterlens bench --resume --out {folder}" in said
    assert "Traceback" not in said
    resumed = run([sys.executable, "-m", "counterlens", "bench", "--resume", "--out", str(folder)])
    assert resumed.returncode == 0, resumed.stderr


def wait_for_an_answer(folder: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not answered(folder) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)
    assert process.poll() is None, "it ended too early to be interrupted"


def test_replay_asks_anew_and_finds_the_same(uninterrupted: tuple[Path, float]) -> None:
    folder, _ = uninterrupted
    command = [sys.executable, "-m", "counterlens", "replay", str(folder), "0", "--allow-weaker-sandbox"]
    done = run(command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same" in done.stdout
    database = sqlite3.connect(folder / "run.sqlite")
    database.execute("UPDATE records SET body = replace(body, 'if-else-flip', 'if-else-flop')")
    database.commit()
    database.close()
    changed = run(command)
    assert changed.returncode == 1
    assert 'mutation: "if-else-flop", now "if-else-flip"' in changed.stdout
