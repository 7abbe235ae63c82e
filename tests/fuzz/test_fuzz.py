"""After random use nothing has crashed, hung or leaked, and what is shown is what a fresh server shows.

The model process is killed every few seconds meanwhile.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import counterlens
from tests.fuzz.closeness import difference
from tests.fuzz.player import Player, greet, shown
from tests.fuzz.text import Text
from tests.fuzz.wire import Wire

STEPS = 700
UNLIMITED = {"counterlens": {"scoring": {"idleSecondsPerMinute": 6000}}}  # all of a document is scored
GROWTH = 200 * 2**20  # bytes that the server may gain after its first tenth


def fuzz(folder: Path, steps: int, seed: int) -> Player:
    """Play, and check."""
    for name in ("played", "fresh"):
        (folder / name).mkdir()
    wire = Wire(folder / "played")
    try:
        player = Player(wire, Random(seed))  # noqa: S311
        player.play(steps)
        player.check_answers()
        wire.notify("workspace/didChangeConfiguration", {"settings": UNLIMITED})
        if not player.documents:
            player.open()
        player.kill_models()  # it is started again, and the files are scored, without another edit
        seen = shown(wire, player.documents)
        assert wire.close() == 0
    finally:
        wire.kill()
    for uri, expected in fresh(folder / "fresh", player.documents).items():
        differs = difference(seen[uri], expected)
        assert not differs, f"{uri}: {differs}; {player.documents[uri]}"
    warm = max(player.memory[: max(1, len(player.memory) // 10)])
    assert player.memory[-1] - warm < GROWTH, f"memory grew from {warm} to {player.memory[-1]} bytes"
    ours = through_our_code(wire.log.read_text(errors="replace"))
    assert not ours, "\n".join(ours[:20])
    return player


def through_our_code(log: str) -> list[str]:
    """The lines of tracebacks that name a file of the package, wherever the package is."""
    ours = f'File "{Path(counterlens.__file__).parent}{os.sep}'
    return [line for line in log.splitlines() if ours in line]


def fresh(folder: Path, documents: dict[str, Text]) -> dict[str, dict[str, Any]]:
    """The state of a server that knows no other version."""
    wire = Wire(folder)
    try:
        greet(wire)
        wire.notify("workspace/didChangeConfiguration", {"settings": UNLIMITED})
        for uri, document in documents.items():
            language = {"py": "python", "java": "java"}.get(uri.rpartition(".")[2], "plaintext")
            item = {"uri": uri, "languageId": language, "version": document.version, "text": document.text}
            wire.notify("textDocument/didOpen", {"textDocument": item})
        return shown(wire, documents)
    finally:
        wire.kill()


def test_random_use(tmp_path: Path) -> None:
    player = fuzz(tmp_path, STEPS, seed=1)
    assert player.done["kill_models"] >= 1
    assert player.done["nonsense"] >= 10


def test_a_traceback_of_ours_is_told_from_the_names_of_folders() -> None:
    fault = "from counterlens.datasets.changes import changed_lines; changed_lines(None, None)"
    done = subprocess.run([sys.executable, "-c", fault], capture_output=True, text=True, check=False)
    assert len(through_our_code(done.stderr)) == 1
    clone = Path(counterlens.__file__).parents[2]
    others = f'started {clone}/.venv/bin/python\n  File "{clone}/.venv/lib/pygls/server.py", line 1, in start'
    assert through_our_code(others.replace(str(clone), "/home/me/counterlens")) == []
    assert through_our_code(others) == []
