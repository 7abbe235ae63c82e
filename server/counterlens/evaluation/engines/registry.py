"""The engines. To add one: a file whose class implements `EvaluationEngine`, and a line in `ENGINES`.

The local one is here: several items at a time; while one waits for the model, others run in the sandbox. The
model answers one call at a time (a local one in a separate process), so it is never idle while an item
has a request. The result of an item depends on that item alone: the order in which items finish changes
nothing. This holds for every engine; this one has model and sandbox on this machine.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from threading import Event
from typing import Self

from counterlens.errors import CounterlensError
from counterlens.evaluation.engines.base import EvaluationEngine, open_model
from counterlens.evaluation.engines.ray.engine import RayEngine
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.models.base import Model
from counterlens.processes import processors
from counterlens.sandbox.base import Sandbox


@dataclass(frozen=True, slots=True)
class Where:
    """The location of an engine's work; each engine uses the parts that apply to it.

    Attributes:
        address: Address of a cluster; None for one of this machine alone.
        replicas: Number of replicas of each model; None for one per node.
        warn: Called with each node that is left out, and why.
    """

    address: str | None = None
    replicas: int | None = None
    warn: Callable[[str], None] = lambda _: None


LOCAL = "local"
ENGINES: Mapping[str, Callable[[Sandbox, Where], EvaluationEngine]] = {
    LOCAL: lambda sandbox, _: LocalEngine(sandbox),
    "ray": lambda sandbox, where: RayEngine(sandbox, where.address, where.replicas, where.warn),
}


_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished item.

    Attributes:
        record: The result; None if it failed.
        error: Why it failed.
    """

    item: Item
    record: StoredRecord | None
    error: CounterlensError | None = None


class LocalEngine:
    """Models and programs on this machine. Implements `EvaluationEngine`."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox of this machine."""
        return self._sandbox

    @property
    def jobs(self) -> int:
        """Like `workers`."""
        return workers()

    def open(self, spec: str, settings: RunSettings) -> Model:
        return open_model(spec, settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        """Release nothing: the sandbox belongs to the process."""


def workers() -> int:
    """Number of items processed at a time: one for the model, and one per processor, within limits."""
    return min(max(processors(), 2) + 1, 8)


def run_local(
    items: Iterable[Item], perform: Callable[[Item], StoredRecord], cancel: Event, jobs: int | None = None
) -> Generator[Finished, None, None]:
    """Process items and yield each when it is finished. Close the generator to cancel work in progress.

    Args:
        items: The items; the next one is taken when a worker is free.
        perform: Processes one item; called from several threads.
        cancel: Set by the caller to cancel, and when the iteration ends early.
        jobs: Number of items processed at a time.
    """
    jobs = jobs or workers()
    waiting = iter(items)
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="evaluation")
    under_way: dict[Future[StoredRecord], Item] = {}
    try:
        while True:
            for item in islice(waiting, jobs - len(under_way)):
                under_way[pool.submit(perform, item)] = item
            if not under_way:
                return
            # Wakes up regularly, because waiting for a lock would block Ctrl-C.
            done, _ = wait(under_way, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda pending: under_way[pending].position):
                yield _finish(under_way.pop(future), future)
    finally:
        if under_way:
            cancel.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _finish(item: Item, future: Future[StoredRecord]) -> Finished:
    try:
        return Finished(item, future.result())
    except CounterlensError as error:
        return Finished(item, None, error)
