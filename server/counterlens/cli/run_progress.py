"""Progress of a run over many functions: live in a terminal, otherwise as occasional lines."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from counterlens.cli.progress_lines import ProgressLines
from counterlens.evaluation.run import Advance, Notice
from counterlens.text import printable


@contextmanager
def run_progress(
    total: int, done: int, remaining: Callable[[], float | None]
) -> Iterator[tuple[Advance, Notice]]:
    """Show live progress with rate, remaining time and current step.

    Args:
        total: Number of items of the run.
        done: Number of items done before.
        remaining: Returns the estimated remaining seconds; None if unknown.

    Yields:
        Callbacks for a finished item, and for the current step of an item; thread-safe.
    """
    console = Console(stderr=True)
    lines = ProgressLines(console)
    started = time.monotonic()
    reached = done
    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}", markup=False),
    )
    shown = Progress(*columns, console=console, disable=not console.is_terminal)
    with shown as bar:
        task = bar.add_task("loading the model", total=total, completed=done, rate="", left="")

        def update(what: str) -> None:
            rate = (reached - done) / max(time.monotonic() - started, 1e-9) * 60
            pace = f"{rate:.1f} per minute" if rate else ""
            seconds = remaining()
            left = "time unknown" if seconds is None else f"about {duration(seconds)} left"
            bar.update(task, completed=reached, rate=pace, left=left, description=printable(what, keep=""))
            lines.show(", ".join(filter(None, (f"{reached} of {total}", pace, left, what))))

        def advance(now: int, _of: int, name: str) -> None:
            nonlocal reached
            reached = now
            update(name)

        yield advance, update


def duration(seconds: float) -> str:
    """A duration in words, as exact as an estimate: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{max(5, 5 * round(seconds / 5))} s"
    minutes = math.ceil(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
