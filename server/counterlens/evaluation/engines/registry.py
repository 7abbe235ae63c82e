"""The engines. To add one: a file whose class implements `EvaluationEngine`, and a line in `ENGINES`.

The local one is here. So many items are in progress that the model always has as many requests as it answers
at the same time: their prompts share its calls, or are in flight to an endpoint. An item waits on its thread
for the model, or for its turn to run a program. The result of an item depends on that item alone: the order
in which items finish changes nothing. This holds for every engine; this one has model and sandbox here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from threading import BoundedSemaphore, Event
from typing import Self

from counterlens.errors import Cancelled, CounterlensError
from counterlens.evaluation.engines.base import EvaluationEngine, open_model
from counterlens.evaluation.engines.ray.engine import RayEngine
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.models.base import Model
from counterlens.processes import processors
from counterlens.sandbox.base import Job, JobOutcome, Sandbox, ServedProgram
from counterlens.sandbox.serving import Conversation

LOCAL = "local"
_POLL_SECONDS = 0.25


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


ENGINES: Mapping[str, Callable[[Sandbox, Where], EvaluationEngine]] = {
    LOCAL: lambda sandbox, _: LocalEngine(sandbox),
    "ray": lambda sandbox, where: RayEngine(sandbox, where.address, where.replicas, where.warn),
}


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
        self._sandbox = TurnSandbox(sandbox, self.programs)

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox of this machine, whose programs take turns."""
        return self._sandbox

    @property
    def programs(self) -> int:
        """One program more than there are processors, within limits: some wait for each other."""
        return min(max(processors(), 2) + 1, 8)

    def open(self, spec: str, settings: RunSettings) -> Model:
        return open_model(spec, settings)

    def why_apart(self, specs: Sequence[str], settings: RunSettings) -> str:  # noqa: ARG002 - none is
        return ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        """Release nothing: the sandbox belongs to the process."""


class TurnSandbox:
    """A sandbox in which programs take turns: a program that gets little of a processor would be too slow.

    Args:
        sandbox: Runs them.
        programs: Number of programs that run at a time.
    """

    def __init__(self, sandbox: Sandbox, programs: int) -> None:
        self._sandbox, self._turns = sandbox, BoundedSemaphore(programs)

    @property
    def name(self) -> str:
        """The id of the back end."""
        return self._sandbox.name

    @property
    def guarantees(self) -> tuple[tuple[str, bool], ...]:
        """The isolation of the other sandbox."""
        return self._sandbox.guarantees

    def run(self, job: Job, *, cancel: Event | None = None) -> JobOutcome:
        """Like `Sandbox.run`, when it is its turn."""
        while not self._turns.acquire(timeout=_POLL_SECONDS):
            if cancel is not None and cancel.is_set():
                raise Cancelled("the program was cancelled")
        try:
            return self._sandbox.run(job, cancel=cancel)
        finally:
            self._turns.release()

    def serve(self, service: ServedProgram) -> Conversation:
        """Like `Sandbox.serve`, at once: a language bounds the number of its persistent programs."""
        return self._sandbox.serve(service)


def in_flight(model: Model, engine: EvaluationEngine) -> int:
    """Number of items in progress at a time, so that neither the model nor the processors wait for items.

    An item has one request at a time in most tasks, and some are between two requests.
    """
    return model.together + model.together // 4 + engine.programs


def run_local(
    items: Iterable[Item],
    perform: Callable[[Item], StoredRecord],
    cancel: Event,
    most: int,
    allowed: Callable[[], int] | None = None,
) -> Generator[Finished, None, None]:
    """Process items and yield each when it is finished. Close the generator to cancel work in progress.

    Args:
        items: The items; the next one is taken when a worker is free.
        perform: Processes one item; called from several threads.
        cancel: Set by the caller to cancel, and when the iteration ends early.
        most: Maximum number of items in progress at a time.
        allowed: How many may be in progress now, if that is fewer.
    """
    waiting = iter(items)
    pool = ThreadPoolExecutor(most, thread_name_prefix="evaluation")
    under_way: dict[Future[StoredRecord], Item] = {}
    try:
        while True:
            room = (allowed() if allowed else most) - len(under_way)
            for item in islice(waiting, max(0, room)):
                under_way[pool.submit(perform, item)] = item
            if not under_way:
                return
            # Wakes up regularly, because waiting for a lock would block Ctrl-C.
            done, _ = wait(under_way, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
            for future in [begun for begun in under_way if begun in done]:
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
