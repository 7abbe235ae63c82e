"""Progress and cancellation of work that takes longer than a moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import TypedDict

from counterlens.errors import Cancelled

_LARGEST, _COUNT = 0.5, 20  # a step's part of what is left: at most, and the count from which it is half

ProgressCallback = Callable[[str, int, int], None]
"""Called with (description of the step, steps done, steps in total)."""


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """The time in which some work ends with what it has.

    Attributes:
        seconds: The whole time.
        begun: When it began, as `time.monotonic`.
    """

    seconds: float
    begun: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Remaining seconds; negative if the time is over."""
        return self.seconds - (time.monotonic() - self.begun)


class EndOfTime(Event):
    """Is set once a time is over, or once the work is cancelled.

    Args:
        cancel: Set to cancel the work.
        budget: The time.
    """

    def __init__(self, cancel: Event | None, budget: TimeBudget) -> None:
        super().__init__()
        self._cancel, self._budget = cancel, budget

    def is_set(self) -> bool:
        """Like `Event.is_set`."""
        is_cancelled = self._cancel is not None and self._cancel.is_set()
        return is_cancelled or self._budget.left <= 0


class WholeShare:
    """The share of some work that is done, step by step: it never falls, whatever steps follow.

    How many there are is unknown, so each step takes a part of what is left, a larger one the more it counts.
    Steps may take turns; one that continues the count of another, such as that of several functions, goes on
    in its part.
    """

    def __init__(self) -> None:
        self._names = dict[str, int]()
        self._widths, self._shares = list[float](), list[float]()
        self._last = (0, 0)
        self._shown = 0.0

    def after(self, step: str, done: int, total: int) -> float:
        """The share of everything, from 0 to below 1, after a share of a step."""
        done = min(done, total)
        if step not in self._names:
            self._begin(step, done, total)
        at = self._names[step]
        if total > 1:
            self._shares[at] = max(self._shares[at], done / total)
        self._last = done, total
        whole = sum(width * share for width, share in zip(self._widths, self._shares, strict=True))
        self._shown = max(self._shown, whole)
        return self._shown

    def _begin(self, step: str, done: int, total: int) -> None:
        before, of = self._last
        if self._widths and total == of > 1 and done >= before:
            self._names[step] = len(self._widths) - 1
            return
        self._names[step] = len(self._widths)
        part = min(_LARGEST, (total - 1) / (total + _COUNT)) if total > 1 else 0.0
        self._widths.append(part * (1 - sum(self._widths)))
        self._shares.append(0.0)


class RequestOptions(TypedDict, total=False):
    """What every request takes that is passed on: how it is cancelled, and who is told of its progress."""

    cancel: Event | None
    progress: Callable[[int, int], None] | None


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Progress and cancellation of one piece of work, step by step.

    Attributes:
        cancel: Set to cancel, by any thread.
        progress: Called at each step.
        facts: Called with each sentence that is already true, for a reader who waits; None if nobody does.
        budget: The time in which the work ends with what it has, if it can; None for no limit.
    """

    cancel: Event | None = None
    progress: ProgressCallback | None = None
    facts: Callable[[str], None] | None = None
    budget: TimeBudget | None = None

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

    def request(self, what: str, of: int = 1, *, in_time: bool = False) -> RequestOptions:
        """Begin a step that is one request to a model, and return the options that watch it.

        Args:
            in_time: Whether the request ends when the time of the work is over.

        Raises:
            Cancelled: `cancel` was set.
        """
        self.next(what, 0, of)
        return {"cancel": self.end if in_time else self.cancel, "progress": partial(self.report, what)}

    def report(self, what: str, done: int, total: int) -> None:
        """Report the progress of a step."""
        if self.progress:
            self.progress(what, done, total)

    def state(self, fact: str) -> None:
        """Pass on a sentence that is already true."""
        if self.facts:
            self.facts(fact)

    @property
    def end(self) -> Event | None:
        """What ends a request: the work is cancelled, or its time is over."""
        return self.cancel if self.budget is None else EndOfTime(self.cancel, self.budget)

    def has_time(self, seconds: float = 0.0, *, share: float = 0.0) -> bool:
        """Whether so much time is left, in seconds or as a share of the whole."""
        return self.budget is None or self.budget.left > max(seconds, share * self.budget.seconds)

    def part(self, name: str, number: int, parts: int) -> Steps:
        """The steps of one of several parts, reported as a share of all; for a single part, these steps."""
        if self.progress is None or parts == 1:
            return self
        progress, whole = self.progress, WholeShare()

        def scaled(what: str, done: int, total: int) -> None:
            share = int(100 * whole.after(what, done, total))
            progress(f"{name}: {what}", 100 * number + share, 100 * parts)

        return Steps(self.cancel, scaled, self.facts, self.budget)
