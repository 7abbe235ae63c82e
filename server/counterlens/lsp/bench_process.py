"""`counterlens bench` as a child of the server: with its interpreter and its environment.

It tells what it does as lines of JSON, and stops when its standard input ends, so it also ends with the
server. What is done is kept, so stopping it is pausing it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

from counterlens.lsp.base import LOG
from counterlens.text import printable

Event = Mapping[str, Any]
_SAID = 4_000  # characters of what went wrong that are kept


class BenchProcess:
    """One such process.

    Args:
        arguments: Arguments of `counterlens bench`.
        folder: Working folder, where the search for settings files begins.
        told: Called with each event, on a thread of its own.
        over: Called with the exit code when it has ended, on that thread.
        weaker: Whether the user accepts a weak sandbox.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        told: Callable[[Event], None],
        over: Callable[[int], None],
        *,
        weaker: bool = False,
    ) -> None:
        # -P: a module in the folder must not shadow one of the server's.
        command = [sys.executable, "-P", "-m", "counterlens", "bench", *arguments, "--progress", "json"]
        environment = {**os.environ, "COUNTERLENS_TRUST": "1", "PYTHONUNBUFFERED": "1"}
        if weaker:
            environment["COUNTERLENS_ALLOW_WEAKER_SANDBOX"] = "1"
        self._told, self._over = told, over
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # what is typed where the server was started is not for it
        )
        self.said = ""
        """The end of what it said besides: warnings, or why it failed."""
        self._listening = Thread(target=self._listen_to_errors, daemon=True)
        self._listening.start()
        Thread(target=self._listen, daemon=True).start()

    def stop(self) -> None:
        """Let it stop after what it is doing; what is done is kept."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # no event: something that another library printed
            if isinstance(event, dict):
                self._told(event)
        code = self._process.wait()
        self._listening.join(timeout=5)
        self.stop()
        self._over(code)

    def _listen_to_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            LOG.info("bench: %s", printable(line.rstrip(), keep=""))
            self.said = (self.said + line)[-_SAID:]
