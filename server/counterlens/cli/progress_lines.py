"""Occasional lines of progress for logs: without a terminal, no line can be redrawn."""

from __future__ import annotations

import time
from threading import Lock

from rich.console import Console

from counterlens.cli.saying import say

EVERY_SECONDS = 15.0
"""Minimum seconds between two lines."""


class ProgressLines:
    """Lines of progress on standard error, unless that is a terminal. Thread-safe.

    Args:
        console: The console on standard error.
    """

    def __init__(self, console: Console) -> None:
        self._redrawn = console.is_terminal
        self._last, self._lock = time.monotonic(), Lock()

    def show(self, line: str) -> None:
        """Print a line, unless another one was printed a moment ago."""
        with self._lock:
            due = not self._redrawn and time.monotonic() - self._last > EVERY_SECONDS
            if due:
                self._last = time.monotonic()
        if due:
            say(line, err=True)
