"""Messages of a run in progress: to a user at a terminal, or to a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from counterlens.cli.progress_lines import steps
from counterlens.cli.run_progress import duration, run_progress
from counterlens.cli.saying import say
from counterlens.evaluation.run import Advance, Notice
from counterlens.evaluation.settings import RunSettings
from counterlens.progress import ProgressCallback

ProgressContext = AbstractContextManager[tuple[Advance, Notice]]


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


_NO_TIME = "its time is unknown until some functions are done: no earlier run used this model in this way"


class TerminalReporter:
    """Reports to a user at a terminal."""

    def steps(self, what: str, *, total_known: bool) -> AbstractContextManager[ProgressCallback]:
        """Like `RunReporter.steps`."""
        return steps(what, total_known=total_known)

    def planned(self, facts: PlanFacts, *, begins: bool) -> None:
        """Like `RunReporter.planned`."""
        time = _NO_TIME
        if facts.seconds is not None:
            time = f"it takes about {duration(facts.seconds)}, at the rate of earlier runs"
        for line in (*facts.lines, time):
            say(line, err=begins)

    def show_progress(self, total: int, done: int, remaining: Callable[[], float | None]) -> ProgressContext:
        """Like `RunReporter.show_progress`."""
        return run_progress(total, done, remaining)

    def note(self, line: str, *, colour: str | None = None) -> None:
        """Like `RunReporter.note`."""
        say(line, err=True, colour=colour)

    def ended(self, made: Callable[[], None], done: int, total: int) -> None:  # noqa: ARG002 - it is shown
        """Like `RunReporter.ended`."""
        made()
