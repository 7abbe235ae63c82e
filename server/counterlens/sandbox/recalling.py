"""Recall what programs did, so that a run over several models and tasks observes each only once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event, Lock

from counterlens.sandbox.base import Ending, Job, JobOutcome, Sandbox

_MOST = 2048  # programs
_MOST_BYTES = 1 << 15  # of what one wrote
_RECOLLECTION: ContextVar[Recollection | None] = ContextVar("recollection", default=None)


@dataclass(frozen=True, slots=True)
class Recollection:
    """What programs did, by their job. Thread-safe; the oldest are forgotten first."""

    _outcomes: dict[Hashable, JobOutcome] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def get(self, key: Hashable) -> JobOutcome | None:
        """The outcome of an equal job."""
        with self._lock:
            return self._outcomes.get(key)

    def keep(self, key: Hashable, outcome: JobOutcome) -> None:
        """Keep an outcome; one that ended for another reason, such as lack of time, may differ next time."""
        written = len(outcome.output) + len(outcome.errors) + len(outcome.result)
        if outcome.ending is not Ending.EXITED or written > _MOST_BYTES:
            return
        with self._lock:
            self._outcomes[key] = outcome
            while len(self._outcomes) > _MOST:
                del self._outcomes[next(iter(self._outcomes))]


@contextmanager
def recalling(recollection: Recollection) -> Iterator[None]:
    """Within the context, this thread recalls programs; their files and projects must stay the same."""
    token = _RECOLLECTION.set(recollection)
    try:
        yield
    finally:
        _RECOLLECTION.reset(token)


def run_or_recall(sandbox: Sandbox, job: Job, *, cancel: Event | None = None) -> JobOutcome:
    """Run a job, or recall what an equal one did, for programs that do the same each time.

    Raises:
        SandboxError, Cancelled: as `Sandbox.run`.
    """
    recollection = _RECOLLECTION.get()
    if recollection is None:
        return sandbox.run(job, cancel=cancel)
    key = (
        *(sandbox.name, job.entry, job.python, job.arguments, job.readable, job.limits),
        *(frozenset(files.items()) for files in (job.files, job.covers)),
    )
    outcome = recollection.get(key)
    if outcome is None:
        outcome = sandbox.run(job, cancel=cancel)
        recollection.keep(key, outcome)
    return outcome
