"""Progress of a command: a line that is redrawn, or occasional lines in a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from counterlens.cli.saying import say
from counterlens.progress import WholeShare
from counterlens.text import printable

EVERY_SECONDS = 15.0
"""Minimum seconds between two lines."""


class ProgressLines:
    """Lines of progress on standard error, unless that is a terminal. Thread-safe."""

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


class StepLine:
    """The progress line of some work, which is called at each step.

    Args:
        counts_whole: Whether each count is that of the whole work, not of a step.
    """

    def __init__(self, bar: Progress, what: str, *, counts_whole: bool = True) -> None:
        self._bar, self._task = bar, bar.add_task(what, total=None)
        self._lines, self._whole = ProgressLines(bar.console), None if counts_whole else WholeShare()

    def __call__(self, step: str, done: int, total: int) -> None:
        """Show a step."""
        share = done / total if total else None
        if self._whole:
            share = self._whole.after(step, done, total)
        bar = (share, 1.0) if share is not None else (done, None)
        self._bar.update(self._task, description=printable(step, keep=""), completed=bar[0], total=bar[1])
        self._lines.show(step if share is None else f"{step} ({100 * share:.0f} %)")

    def state(self, fact: str) -> None:
        """Print a sentence above the line, where it stays."""
        if self._bar.console.is_terminal:
            self._bar.console.print(printable(fact, keep=""), markup=False, highlight=False)
        else:
            say(fact, err=True)


@contextmanager
def steps(what: str, *, total_known: bool = True, counts_whole: bool = True) -> Iterator[StepLine]:
    """A progress line on standard error until the work is done; without a terminal, occasional lines.

    Args:
        counts_whole: As of `StepLine`.
    """
    console = Console(stderr=True)
    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False)]
    extra = [BarColumn(bar_width=24), TimeElapsedColumn()] if total_known else [TimeElapsedColumn()]
    with Progress(*columns, *extra, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield StepLine(bar, what, counts_whole=counts_whole)


def progress_at(report: Callable[[str, int, int], None], number: int, of: int) -> Callable[..., None]:
    """A callback that reports the current step at one of several functions."""
    return lambda what, *_: report(what, number, of)
