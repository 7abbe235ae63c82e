"""What several processes would find out at once, one finds out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Event, Timer

import pytest

from counterlens.errors import Cancelled
from counterlens.models.files import note, recall
from counterlens.models.llama.worker import one_process

FINDS_OUT = """
from threading import Event
from counterlens.models.files import note, recall
from counterlens.models.llama.worker import one_process
with one_process("trial", Event()):
    note("trials.json", "tried", "by the other" if recall("trials.json", "tried") is None else "twice")
"""


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_another_process_waits_and_then_knows_it() -> None:
    with one_process("trial", Event()):
        other = subprocess.Popen([sys.executable, "-c", FINDS_OUT], env=os.environ)
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(1.5)
        assert recall("trials.json", "tried") is None
        note("trials.json", "tried", "here")
    assert other.wait() == 0
    assert recall("trials.json", "tried") == "twice"


def test_who_waits_for_something_else_does_not_wait() -> None:
    with one_process("trial", Event()), one_process("another trial", Event()):
        pass


def test_a_wait_ends_when_it_is_cancelled_or_has_lasted_long() -> None:
    with one_process("trial", Event()):
        cancelled = Event()
        timer = Timer(0.05, cancelled.set)
        timer.start()
        with pytest.raises(Cancelled), one_process("trial", cancelled):
            pass
        timer.join()
        with one_process("trial", Event(), patience=0):
            pass


def test_nobody_waits_where_the_cache_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with one_process("trial", Event()), one_process("trial", Event()):
        pass
