"""Progress and cancellation of work that takes several steps, for every layer alike."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from counterlens.errors import Cancelled

ProgressCallback = Callable[[str, int, int], None]
"""Called with (what is being done, steps done, steps in all)."""


class Steps:
    """Reports each step of some work and stops it between two steps once it is cancelled.

    Args:
        cancel: Set by any thread to give up.
        progress: Called with each step.
    """

    def __init__(self, cancel: Event | None = None, progress: ProgressCallback | None = None) -> None:
        self.cancel = cancel
        self._progress = progress

    def next(self, what: str, done: int = 0, total: int = 1) -> None:
        """Begin a step.

        Raises:
            Cancelled: `cancel` was set.
        """
        if self.cancel is not None and self.cancel.is_set():
            raise Cancelled
        self.report(what, done, total)

    def report(self, what: str, done: int, total: int) -> None:
        """Report how far the current step is; never raises `Cancelled`."""
        if self._progress:
            self._progress(what, done, total)
