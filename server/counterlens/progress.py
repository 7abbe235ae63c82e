"""Progress and cancellation of work that takes longer than a moment."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from counterlens.errors import Cancelled

ProgressCallback = Callable[[str, int, int], None]
"""Called with (description of the step, steps done, steps in total)."""


class Steps:
    """Progress and cancellation of one piece of work, step by step.

    Args:
        cancel: Set to cancel, by any thread.
        progress: Called at each step.
        facts: Called with each sentence that is already true, for a reader who waits; None if nobody does.
    """

    def __init__(
        self,
        cancel: Event | None = None,
        progress: ProgressCallback | None = None,
        facts: Callable[[str], None] | None = None,
    ) -> None:
        self.cancel, self.progress, self.facts = cancel, progress, facts

    def check(self) -> None:
        """Stop if cancellation was requested.

        Raises:
            Cancelled: `cancel` was set.
        """
        if self.cancel is not None and self.cancel.is_set():
            raise Cancelled

    def next(self, what: str, done: int = 0, total: int = 1) -> None:
        """Begin a step.

        Raises:
            Cancelled: `cancel` was set.
        """
        self.check()
        self.report(what, done, total)

    def report(self, what: str, done: int, total: int) -> None:
        """Report the progress of a step."""
        if self.progress:
            self.progress(what, done, total)

    def state(self, fact: str) -> None:
        """Pass on a sentence that is already true."""
        if self.facts:
            self.facts(fact)

    def part(self, name: str, number: int, parts: int) -> Steps:
        """The steps of one of several parts, reported as a share of all; for a single part, these steps."""
        if self.progress is None or parts == 1:
            return self
        progress = self.progress

        def scaled(what: str, done: int, total: int) -> None:
            share = 100 * min(done, total) // max(total, 1)
            progress(f"{name}: {what}", 100 * number + share, 100 * parts)

        return Steps(self.cancel, scaled, self.facts)
