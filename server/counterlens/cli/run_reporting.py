"""Messages of a run in progress: to a user at a terminal, or to a program.

Reports a run to the program that started it, one JSON object per line; end of input stops the run.

The pipe of a program closes when it ends, so no run is left behind.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from counterlens.cli.interrupting import end_at_interrupt
from counterlens.cli.progress_lines import ProgressLines, steps
from counterlens.cli.saying import say, say_document
from counterlens.errors import CounterlensError
from counterlens.evaluation.run import Advance, Notice
from counterlens.evaluation.settings import RunSettings
from counterlens.progress import ProgressCallback
from counterlens.text import printable

EVERY_SECONDS = 0.5
"""Seconds between two events about the current step; events about finished items come at once."""
_AGAIN_SECONDS = 10.0
"""Seconds until the interrupt is repeated: Python drops one that falls into a callback or a finalizer."""

ProgressContext = AbstractContextManager[tuple[Advance, Notice]]
_NO_TIME = "its time is unknown until some functions are done: no earlier run used this model in this way"


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """The plan of a run.

    Attributes:
        settings: The run's settings.
        lines: The plan in words.
        functions: Number of functions.
        items: Number of items: functions by tasks and models.
        done: Number of items done before.
        seconds: Expected duration; None if unknown.
    """

    settings: RunSettings
    lines: Sequence[str]
    functions: int
    items: int
    done: int
    seconds: float | None


class RunReporter(Protocol):
    """Reports the messages of a run."""

    def steps(self, what: str, *, total_known: bool) -> AbstractContextManager[ProgressCallback]:
        """Report a step before the first item."""
        ...

    def planned(self, facts: PlanFacts, *, begins: bool) -> None:
        """Report the plan; `begins`: the run starts now."""
        ...

    def show_progress(self, total: int, done: int, remaining: Callable[[], float | None]) -> ProgressContext:
        """Show progress while the context lasts, as `run_progress` does."""
        ...

    def note(self, line: str, *, colour: str | None = None) -> None:
        """Report a note in addition to the progress."""
        ...

    def ended(self, made: Callable[[], None], done: int, total: int) -> None:
        """Report the end of the run; `made` shows the results."""
        ...


class TerminalReporter:
    """Reports to a user at a terminal."""

    def steps(self, what: str, *, total_known: bool) -> AbstractContextManager[ProgressCallback]:
        return steps(what, total_known=total_known)

    def planned(self, facts: PlanFacts, *, begins: bool) -> None:
        time = _NO_TIME
        if facts.seconds is not None:
            time = f"it takes about {duration(facts.seconds)}, at the rate of earlier runs"
        for line in (*facts.lines, time):
            say(line, err=begins)

    def show_progress(self, total: int, done: int, remaining: Callable[[], float | None]) -> ProgressContext:
        return run_progress(total, done, remaining)

    def note(self, line: str, *, colour: str | None = None) -> None:
        say(line, err=True, colour=colour)

    def ended(self, made: Callable[[], None], done: int, total: int) -> None:  # noqa: ARG002 - it is shown
        made()


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


class EventReporter:
    """Reports to a program. Implements `RunReporter`."""

    def __init__(self) -> None:
        self._lock, self._last = Lock(), 0.0

    def steps(self, what: str, *, total_known: bool) -> AbstractContextManager[ProgressCallback]:  # noqa: ARG002

        @contextmanager
        def reported_steps() -> Iterator[ProgressCallback]:
            self._say("step", what=what, done=0, total=0)
            yield lambda step, done, total: self._now_and_then("step", what=step, done=done, total=total)

        return reported_steps()

    def planned(self, facts: PlanFacts, *, begins: bool) -> None:
        self._say(
            "begun" if begins else "plan",
            lines=[*facts.lines],
            tasks=[*facts.settings.tasks],
            models=[*facts.settings.models],
            functions=facts.functions,
            done=facts.done,
            total=facts.items,
            seconds=facts.seconds and round(facts.seconds, 1),
        )

    def show_progress(self, total: int, done: int, remaining: Callable[[], float | None]) -> ProgressContext:

        @contextmanager
        def reported_progress() -> Iterator[tuple[Advance, Notice]]:
            reached = done

            def facts(what: str) -> dict[str, Any]:
                left = remaining()
                return {
                    "done": reached,
                    "total": total,
                    "seconds": None if left is None else round(left, 1),
                    "what": what,
                }

            def advance(now: int, _of: int, name: str) -> None:
                nonlocal reached
                reached = now
                self._say("progress", **facts(name))

            yield advance, lambda what: self._now_and_then("progress", **facts(what))

        return reported_progress()

    def note(self, line: str, *, colour: str | None = None) -> None:  # noqa: ARG002 - a program sees none
        """Like `RunReporter.note`: for the log of the program that started the run."""
        say(line, err=True)

    def ended(self, made: Callable[[], None], done: int, total: int) -> None:  # noqa: ARG002 - it is not shown
        self._say("ended", done=done, total=total)

    @contextmanager
    def reporting_errors(self) -> Iterator[None]:
        """Also report an error that ends the run; meanwhile, watch for the end of standard input."""
        end_at_interrupt(also_in_background=True)
        Thread(target=_interrupt_at_the_end, daemon=True).start()
        try:
            yield
        except CounterlensError as error:
            self._say("error", message=error.message, hint=error.hint or "")
            raise

    def _now_and_then(self, event: str, **facts: object) -> None:
        with self._lock:
            now = time.monotonic()
            if now - self._last < EVERY_SECONDS:
                return
            self._last = now
        self._say(event, **facts)

    def _say(self, event: str, **facts: object) -> None:
        text = json.dumps({"event": event, **facts}, ensure_ascii=True)
        with self._lock:
            say_document(text + "\n")


def _interrupt_at_the_end() -> None:
    """Interrupt the process as Ctrl-C does, once the program that started it ends or closes the pipe."""
    while os.read(sys.stdin.fileno(), 4096):  # unbuffered: a buffer would be locked when the process ends
        pass
    while True:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(_AGAIN_SECONDS)
