"""A small run with a real model, as a user starts it, and the files that it writes."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from counterlens.evaluation.results import RunResults
from counterlens.processes import python
from counterlens.reports.run_formats import write_evaluation
from tests.conftest import short_model

FUNCTIONS = "2"
"""The default number of functions in a run."""


def bench(
    place: Path, folder: Path, *more: str, model: str | None = None, functions: str = FUNCTIONS
) -> list[str]:
    """The command of a small run; the model is a short one by default."""
    command = python("-m", "counterlens", "bench", "--out", str(folder))
    command += ["--data", f"repo:{place / 'code'}", "--limit", functions, "--max-tokens", "12"]
    command += ["--mutation", "if-else-flip", "--mutation", "operand-swap", "--threads", "1"]
    command += ["--model", model or str(short_model())]
    return [*command, "--allow-weaker-sandbox", *more]


def command_of(*arguments: str) -> list[str]:
    """The command line of Counterlens with these arguments."""
    return python("-m", "counterlens", *arguments)


def resume(folder: Path) -> list[str]:
    """The command that resumes a run, on this machine."""
    return python("-m", "counterlens", "bench", "--resume", "--out", str(folder))


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def reports(folder: Path) -> list[str]:
    """The reports on a run, without what it measured of its machine.

    The first one is from another process, with other hash values.
    """
    command = python("-m", "counterlens", "report", str(folder), "--format", "markdown")
    elsewhere = re.sub(
        r"### Quality and speed\n.*?(?=All \d+ functions)", "", run(command).stdout, flags=re.DOTALL
    )
    results = replace(RunResults.read(folder), speeds={})
    return [elsewhere, *(write_evaluation(form, results) for form in ("markdown", "json", "csv"))]


def answered(folder: Path) -> dict[bytes, float]:
    """The time at which each answer of the model was stored, by key."""
    path = folder / "answers.sqlite"
    if not path.exists():
        return {}
    with sqlite3.connect(path) as database:
        tables = database.execute("SELECT name FROM sqlite_master").fetchall()
        return dict(database.execute("SELECT key, time FROM answers")) if tables else {}


def wait_for_an_answer(folder: Path, process: subprocess.Popen[str]) -> None:
    """Wait until the model's first answer is stored, in a run that cannot end by itself."""
    wait_for(lambda: bool(answered(folder)), process)


def wait_for(happened: Callable[[], bool], process: subprocess.Popen[str], seconds: float = 240) -> None:
    """Wait until something happens in a process that cannot end before it."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert process.poll() is None, f"it ended too early to be interrupted: {process.communicate()}"
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.05)
