"""The elapsed time of items that several workers process, given the seconds of each."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

_ONE_BY_ONE = 64
"""Number of items at the end that are followed one by one; before, all workers have work."""


def elapsed(
    working: Iterable[float], waiting: Iterable[float], *, workers: float, shared: float, processors: int
) -> float:
    """The elapsed seconds until all items are done.

    At the end, fewer items than workers are left. Those that wait for an endpoint take as long as before;
    those that share the processors become faster.

    Args:
        working: The remaining seconds of items in progress, if as many as before are in progress.
        waiting: The seconds of the others, which begin in this order.
        workers: Average number of items in progress so far.
        shared: Share of their time in which they use the processors of this machine.
        processors: Number of processors.
    """
    active, queue = sorted(working), list(waiting)
    together = max(len(active), round(workers), 1)
    early = queue[: max(0, len(queue) - _ONE_BY_ONE)]
    now = sum(early) / together
    queue = queue[len(early) :][::-1]
    passed = 0.0  # the seconds of work that each active item has done since the beginning
    heapq.heapify(active)
    while active or queue:
        while queue and len(active) < together:
            heapq.heappush(active, passed + queue.pop())
        slower = max(len(active), processors) / max(workers, processors)
        ends = heapq.heappop(active)
        now += (ends - passed) * ((1 - shared) + shared * min(1.0, slower))
        passed = ends
    return now
