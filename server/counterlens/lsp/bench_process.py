"""`counterlens bench` as a child process of the server, with its interpreter and its environment.

It reports progress as lines of JSON, and stops when its standard input closes, so it also ends with the
server. Results are kept, so a stopped run is a paused run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from subprocess import PIPE
from threading import Thread
from typing import Any

from counterlens.environment import closed_environment
from counterlens.lsp.base import LOG
from counterlens.processes import python, start
from counterlens.text import printable

Event = Mapping[str, Any]
_KEPT_CHARACTERS = 4_000  # characters of error output that are kept


class BenchProcess:
    """One process.

    Args:
        arguments: Command-line arguments of `counterlens bench`.
        folder: Working directory, where the search for settings files begins.
        on_event: Called with each event, on a separate thread.
        on_exit: Called with the exit code at the end, on the same thread.
        weaker: Whether the user accepts a weak sandbox.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        on_event: Callable[[Event], None],
        on_exit: Callable[[int], None],
        *,
        weaker: bool = False,
    ) -> None:
        command = python("-m", "counterlens", "bench", *arguments, "--progress", "json")
        environment = closed_environment({"COUNTERLENS_TRUST": "1", "PYTHONUNBUFFERED": "1"})
        if weaker:
            environment["COUNTERLENS_ALLOW_WEAKER_SANDBOX"] = "1"
        self._on_event, self._on_exit = on_event, on_exit
        self._process = start(
            command,
            cwd=folder,
            environment=environment,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,  # keys such as Ctrl+C in the server's terminal do not reach it
        )
        self.error_output = ""
        """The end of its other output: warnings, or why it failed."""
        self._listening = Thread(target=self._listen_to_errors, daemon=True)
        self._listening.start()
        Thread(target=self._listen, daemon=True).start()

    def stop(self) -> None:
        """Let it stop after the current step; results are kept."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # not an event: another library's output
            if isinstance(event, dict):
                self._on_event(event)
        code = self._process.wait()
        self._listening.join(timeout=5)
        self.stop()
        self._on_exit(code)

    def _listen_to_errors(self) -> None:
        assert self._process.stderr is not None
        for data in self._process.stderr:
            line = data.decode("utf-8", "replace")
            LOG.info("bench: %s", printable(line.rstrip(), keep=""))
            self.error_output = (self.error_output + line)[-_KEPT_CHARACTERS:]
