"""How long a run still takes: by what is left, at the pace of what is done and in work.

Functions differ widely in how much is asked about them, so they count by their prompts, not by their number.
Further costs of a prompt, such as alternative completions, long functions and tests, are in the pace, which
is that of the same model and task as soon as one of its functions is done.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock

from counterlens.evaluation.item_time import ItemTime, ItemTimes, expected
from counterlens.evaluation.store import Item

_KNOWN_BEFORE = 2.0
"""An earlier run's pace counts as so many items."""

Which = tuple[str, str]
"""A model and a task."""
Paces = Mapping[Which, ItemTime]
"""The time of an item by model and task, by the clock on the wall."""


@dataclass(slots=True)
class _Waiting:
    """Items that are not in work yet: how many, and their prompts."""

    count: int = 0
    prompts: float = 0.0

    @property
    def usual(self) -> float:
        """The mean number of prompts."""
        return self.prompts / self.count if self.count else 0.0


class RemainingTime:
    """Follows the items of a run; from any thread.

    Args:
        items: The remaining work.
        prompts: About how many prompts each task asks about each function, by the names of both.
        known: The paces of earlier runs.
        most: Seconds that the run may take; None for any number.
        clock: Tells the time, in seconds.
    """

    def __init__(
        self,
        items: Iterable[Item],
        prompts: Mapping[str, Mapping[str, float]],
        *,
        known: Paces | None = None,
        most: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock, self._lock = clock, Lock()
        self._ends = None if most is None else clock() + most
        self._prompts: dict[int, float] = {}
        self._waiting: defaultdict[Which, _Waiting] = defaultdict(_Waiting)
        for item in items:
            self._prompts[item.position] = prompts[item.task][item.problem]
            self._wait(item, 1)
        self._known_before = dict(known or {})
        self._working: dict[int, tuple[Which, float]] = {}
        self._done: defaultdict[Which, ItemTimes] = defaultdict(ItemTimes)
        self._first: float | None = None
        self._busy = 0.0

    def begin(self, item: Item) -> None:
        """An item is in work from now on."""
        with self._lock:
            now = self._clock()
            self._first = now if self._first is None else self._first
            self._wait(item, -1)
            self._working[item.position] = (item.model, item.task), now

    def end(self, item: Item, *, done: bool = True) -> None:
        """An item is no longer in work.

        Args:
            item: Which.
            done: Whether it was carried out; what failed says nothing about others.
        """
        with self._lock:
            which, begun = self._working.pop(item.position)
            seconds = self._clock() - begun
            self._busy += seconds
            if done:
                self._done[which].add(self._prompts[item.position], seconds)

    def seconds(self) -> float | None:
        """About how many seconds are left; None before anything is known."""
        with self._lock:
            now, left, number = self._clock(), 0.0, len(self._working)
            together = self._together(now)
            for which, waiting in self._waiting.items():
                working = [
                    (self._prompts[at], now - begun)
                    for at, (one, begun) in self._working.items()
                    if one == which
                ]
                if not waiting.count and not working:
                    continue
                seen = self._seen(which, together)
                if not seen.count or not (seen.prompts or self._asks_nothing(waiting, working)):
                    return None
                time_of = seen.fitted_with(working)
                left += waiting.count * time_of.of(waiting.usual)
                left += sum(expected(time_of.of(prompts), waited) - waited for prompts, waited in working)
                number += waiting.count
            found = left / min(together, max(1, number))
            return found if self._ends is None else min(found, max(0.0, self._ends - now))

    def paces(self) -> dict[Which, ItemTime]:
        """The pace so far of each model and task, by the clock on the wall."""
        with self._lock:
            together = self._together(self._clock())
            asked = {which: seen for which, seen in self._done.items() if seen.prompts}
            return {which: seen.fitted().times(1 / together) for which, seen in asked.items()}

    def _wait(self, item: Item, number: int) -> None:
        waiting = self._waiting[item.model, item.task]
        waiting.count += number
        waiting.prompts += number * self._prompts[item.position]

    def _together(self, now: float) -> float:
        """How many items are processed at once, on average."""
        if self._first is None:
            return 1.0
        busy = self._busy + sum(now - begun for _, begun in self._working.values())
        return max(1.0, busy / max(now - self._first, 1e-9))

    @staticmethod
    def _asks_nothing(waiting: _Waiting, working: Iterable[tuple[float, float]]) -> bool:
        return waiting.prompts <= 0 and not any(prompts for prompts, _ in working)

    def _seen(self, which: Which, together: float) -> ItemTimes:
        """What is known of a model and task: of both, else of this task, of this model, or of all."""
        own = self._done.get(which, ItemTimes())
        if (before := self._known_before.get(which)) is not None:
            usual, known = self._waiting[which].usual, ItemTimes()
            known.add(usual, before.times(together).of(usual), _KNOWN_BEFORE)
            return own + known
        model, task = which
        for near in (
            [own],
            [seen for (_, other), seen in self._done.items() if other == task],
            [seen for (other, _), seen in self._done.items() if other == model],
            list(self._done.values()),
        ):
            known = sum(near, ItemTimes())
            if known.prompts:
                return known
        return own
