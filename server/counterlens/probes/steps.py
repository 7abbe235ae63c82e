"""Progress and cancellation of a probe, once a step."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from counterlens.errors import Cancelled

Report = Callable[[str, int, int], None]
"""Called with (what is being done, steps done, steps in all)."""


class Steps:
    """What is being done now.

    Args:
        cancel: Set by any thread to give up.
        report: Called with each step.
    """

    def __init__(self, cancel: Event | None, report: Report | None) -> None:
        self.cancel = cancel
        self._report = report

    def next(self, what: str, done: int = 0, total: int = 1) -> None:
        """Begin a step.

        Raises:
            Cancelled: `cancel` was set.
        """
        if self.cancel is not None and self.cancel.is_set():
            raise Cancelled
        self.report(what, done, total)

    def report(self, what: str, done: int, total: int) -> None:
        """Say how far a step is."""
        if self._report:
            self._report(what, done, total)
