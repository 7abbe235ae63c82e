"""How long a run still takes: by the prompts that are left, at the pace of those that are done.

Functions differ widely in how much is asked about them, so they count by their prompts, not by their number.
Further costs of a prompt, such as alternative completions, long functions and tests, are in the pace, which
is that of the same model and task as soon as one of its functions is done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock

from counterlens.evaluation.store import Item

BESIDE = 0.5
"""Overhead of a function, in prompts: finding and running its tests."""
_NEVER_ALL = 0.9  # of an item in work, so much at most is taken to be done


@dataclass(slots=True)
class _Pace:
    """Seconds that items took, and how much they were."""

    seconds: float = 0.0
    prompts: float = 0.0


class RemainingTime:
    """Follows the items of a run; from any thread.

    Args:
        items: The remaining work.
        prompts: About how many prompts each task asks about each function, by the names of both.
        most: Seconds that the run may take; None for any number.
        clock: Tells the time, in seconds.
    """

    def __init__(
        self,
        items: Iterable[Item],
        prompts: Mapping[str, Mapping[str, float]],
        *,
        most: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock, self._lock = clock, Lock()
        self._ends = None if most is None else clock() + most
        self._left = {item.position: item for item in items}
        self._prompts = {
            item.position: prompts[item.task][item.problem] + BESIDE for item in self._left.values()
        }
        self._begun: dict[int, float] = {}
        self._paces: dict[tuple[str, str], _Pace] = {}
        self._first: float | None = None
        self._busy = 0.0

    def begin(self, item: Item) -> None:
        """An item is in work from now on."""
        with self._lock:
            now = self._clock()
            self._first = now if self._first is None else self._first
            self._begun[item.position] = now

    def end(self, item: Item, *, done: bool = True) -> None:
        """An item is no longer in work.

        Args:
            item: Which.
            done: Whether it was carried out; what failed says nothing about others.
        """
        with self._lock:
            seconds = self._clock() - self._begun.pop(item.position, self._clock())
            self._busy += seconds
            self._left.pop(item.position, None)
            if done and self._asks(item.position):  # else it tells nothing of what asks
                pace = self._paces.setdefault((item.model, item.task), _Pace())
                pace.seconds += seconds
                pace.prompts += self._prompts[item.position]

    def seconds(self) -> float | None:
        """About how many seconds are left; None before anything is known."""
        with self._lock:
            now = self._clock()
            if self._first is None or not self._known:
                return None
            waited = {at: now - begun for at, begun in self._begun.items()}
            together = max(1.0, (self._busy + sum(waited.values())) / max(now - self._first, 1e-9))
            left = sum(self._seconds_of(item, waited.get(at)) for at, item in self._left.items())
            found = left / min(together, max(1, len(self._left)))
            return found if self._ends is None else min(found, max(0.0, self._ends - now))

    def paces(self) -> dict[tuple[str, str], float]:
        """Seconds per prompt so far of each model and task, by the clock on the wall."""
        with self._lock:
            if self._first is None or not self._busy:
                return {}
            together = max(1.0, self._busy / max(self._clock() - self._first, 1e-9))
            return {which: pace.seconds / pace.prompts / together for which, pace in self._paces.items()}

    @property
    def _known(self) -> bool:
        """Whether an item that asked something is done, or nothing is left that does."""
        return bool(self._paces) or not any(map(self._asks, self._left))

    def _asks(self, position: int) -> bool:
        """Whether anything is asked about an item's function."""
        return self._prompts[position] > BESIDE

    def _seconds_of(self, item: Item, waited: float | None) -> float:
        """The remaining work of an item, which may have been in progress for some time."""
        whole = self._prompts[item.position] * self._pace(item.model, item.task)
        return whole if waited is None else max(whole - waited, (1 - _NEVER_ALL) * whole)

    def _pace(self, model: str, task: str) -> float:
        """Seconds per prompt: of this model and task, else of this task, this model, or all."""
        paces = self._paces
        for near in (
            [paces[model, task]] if (model, task) in paces else [],
            [pace for (_, other), pace in paces.items() if other == task],
            [pace for (other, _), pace in paces.items() if other == model],
            list(paces.values()),
        ):
            total = sum(pace.prompts for pace in near)
            if total:
                return sum(pace.seconds for pace in near) / total
        return 0.0
