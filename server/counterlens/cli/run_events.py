"""Reports a run to the program that started it, one JSON object per line; end of input stops the run.

The pipe of a program closes when it ends, so no run is left behind.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock, Thread
from typing import Any

from counterlens.cli.run_reporting import PlanFacts, ProgressContext
from counterlens.cli.saying import say, say_document
from counterlens.errors import CounterlensError
from counterlens.evaluation.run import Advance, Notice
from counterlens.progress import ProgressCallback

EVERY_SECONDS = 0.5
"""Seconds between two events about the current step; events about finished items come at once."""
_AGAIN_SECONDS = 10.0
"""Seconds until the interrupt is repeated: Python drops one that falls into a callback or a finalizer."""


class EventReporter:
    """Reports to a program. Implements `RunReporter`."""

    def __init__(self) -> None:
        self._lock, self._last = Lock(), 0.0

    def steps(self, what: str, *, total_known: bool) -> AbstractContextManager[ProgressCallback]:  # noqa: ARG002
        """Like `RunReporter.steps`."""

        @contextmanager
        def reported_steps() -> Iterator[ProgressCallback]:
            self._say("step", what=what, done=0, total=0)
            yield lambda step, done, total: self._now_and_then("step", what=step, done=done, total=total)

        return reported_steps()

    def planned(self, facts: PlanFacts, *, begins: bool) -> None:
        """Like `RunReporter.planned`."""
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
        """Like `RunReporter.show_progress`."""

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
        """Like `RunReporter.ended`."""
        self._say("ended", done=done, total=total)

    @contextmanager
    def reporting_errors(self) -> Iterator[None]:
        """Also report an error that ends the run; meanwhile, watch for the end of standard input."""
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as for programs in the background
            signal.signal(signal.SIGINT, signal.default_int_handler)
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
