"""Ctrl-C ends a command whatever its threads and its children do, and leaves no process behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import psutil
import pytest

from counterlens.cli.interrupting import INTERRUPTED
from tests.conftest import embedded_file

WORKER = "counterlens.models.llama.worker"
EXAMPLES = Path(__file__).parents[2] / "examples"
MOST_SECONDS = 60  # until something is considered to hang
FEW = ("--mutation", "if-else-flip", "--placebos", "0")  # so that the model is asked soon
LONG = {
    "score": ("score", str(EXAMPLES), "--no-cache"),
    "probe": ("probe", f"{EXAMPLES / 'larger.py'}::larger", *FEW, "--trust", "--no-cache"),
    "check": ("check", str(EXAMPLES), "--fit", "--no-cache"),
    "calibrate": ("calibrate", "--data", "humaneval", "--samples", "1"),
}


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts commands that Ctrl-C can end, also if the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "counterlens", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "COUNTERLENS_MODEL": embedded_file()},
        )
        processes.append(process)
        return process

    yield start
    signal.signal(signal.SIGINT, before)
    for process in processes:
        process.kill()
        process.communicate()


def reached(process: subprocess.Popen[str], seconds: float | None) -> list[psutil.Process]:
    """The processes that a command has started, once it has reached a moment of its life.

    Args:
        seconds: The processor time that its model has used; None for the start of the command itself.
    """
    parent = psutil.Process(process.pid)
    while process.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            begun = parent.children(recursive=True)
            if seconds is None and parent.cpu_times().user > 0:
                return begun
            if any(WORKER in child.cmdline() and child.cpu_times().user >= (seconds or 0) for child in begun):
                return begun
        time.sleep(0.01 if seconds is None else 0.1)  # it needs the processor, too
    raise AssertionError(process.communicate())


def stopped(processes: Iterable[psutil.Process]) -> None:
    """Stop processes, and those that they start meanwhile."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.suspend()


Start = Callable[..., subprocess.Popen[str]]


@pytest.mark.parametrize(
    ("command", "seconds", "stops"),
    [
        *(("score", seconds, stops) for seconds in (None, 0.0, 0.5) for stops in (False, True)),
        *((command, 0.5, True) for command in LONG if command != "score"),
    ],
)
def test_ctrl_c_ends_a_command_and_its_children(
    started: Start, command: str, seconds: float | None, stops: bool
) -> None:
    process = started(*LONG[command])
    below = reached(process, seconds)
    if stops:
        stopped(below)
    for _ in range(2):  # as `timeout` does
        process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=MOST_SECONDS)
    # Before our first line has run, the interpreter itself decides how it ends, or loses the interrupt.
    early = (
        {-signal.SIGINT, 1, *([0] if "Exception ignored in" in said else [])} if seconds is None else set()
    )
    assert process.returncode in {INTERRUPTED, *early}, said
    assert seconds is None or "interrupted" in said
    assert seconds is None or "Traceback" not in said
    assert psutil.wait_procs(below, timeout=MOST_SECONDS)[1] == []


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux ends children with their parents")
def test_a_stopped_model_ends_with_a_killed_command(started: Start) -> None:
    process = started(*LONG["score"])
    below = reached(process, 0.5)
    stopped(below)
    process.kill()
    assert psutil.wait_procs(below, timeout=MOST_SECONDS)[1] == []


def test_what_must_be_finished_is(tmp_path: Path) -> None:
    program = f"""
import signal, time
from pathlib import Path
from counterlens.cli import interrupting

signal.signal(signal.SIGINT, signal.default_int_handler)
interrupting.end_at_interrupt()
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    with interrupting.finishing():
        time.sleep(interrupting._CLEAN_UP + interrupting._END + 1)
        Path({str(tmp_path / "done")!r}).touch()
    time.sleep({MOST_SECONDS})
"""
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == INTERRUPTED
    assert (tmp_path / "done").exists()


def test_a_second_interrupt_does_not_break_the_clean_up_of_the_first() -> None:
    program = """
import signal
from counterlens.cli import interrupting

signal.signal(signal.SIGINT, signal.default_int_handler)
interrupting.end_at_interrupt()
try:
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.raise_signal(signal.SIGINT)
        print("cleaned")
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["cleaned", "interrupted"]
