"""The remaining duration of a run: the remaining work at the pace of finished and current items.

Functions differ widely in their number of prompts, so they count by their prompts, not by their number.
Further costs of a prompt, such as alternative completions, long functions and tests, are part of the pace,
which is that of the same model and task as soon as one of its functions is done.
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
"""Weight of an earlier run's pace, in items."""

Which = tuple[str, str]
"""A model and a task."""
Paces = Mapping[Which, ItemTime]
"""The time of an item by model and task, in elapsed seconds."""


@dataclass(slots=True)
class _Waiting:
    """Items that have not begun: their number, and their prompts."""

    count: int = 0
    prompts: float = 0.0

    @property
    def usual(self) -> float:
        """The mean number of prompts."""
        return self.prompts / self.count if self.count else 0.0


class RemainingTime:
    """Follows the items of a run; thread-safe.

    Args:
        items: The remaining work.
        prompts: Estimated number of prompts by task and by function name.
        known: Paces of earlier runs.
        most: Time limit of the run in seconds; None for no limit.
        clock: Returns the time, in seconds.
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
        self._usual = {which: waiting.usual for which, waiting in self._waiting.items()}
        self._known_before = dict(known or {})
        self._working: dict[int, tuple[Which, float]] = {}
        self._done: defaultdict[Which, ItemTimes] = defaultdict(ItemTimes)
        self._first: float | None = None
        self._busy = 0.0

    def largest_first(self, items: Iterable[Item]) -> list[Item]:
        """Items in the order in which a run ends soonest: within each task, those with most prompts first.

        A large item that begins last runs alone for a long time, while the other processors wait.
        """
        tasks: dict[str, list[Item]] = {}
        for item in items:
            tasks.setdefault(item.task, []).append(item)
        size = self._prompts
        return [
            item
            for same in tasks.values()
            for item in sorted(same, key=lambda one: -size.get(one.position, 0.0))
        ]

    def begin(self, item: Item) -> None:
        """Record the beginning of an item."""
        with self._lock:
            now = self._clock()
            self._first = now if self._first is None else self._first
            self._wait(item, -1)
            self._working[item.position] = (item.model, item.task), now

    def end(self, item: Item, *, done: bool = True) -> None:
        """Record the end of an item.

        Args:
            item: The item.
            done: Whether it succeeded; a failed item says nothing about others.
        """
        with self._lock:
            which, begun = self._working.pop(item.position)
            seconds = self._clock() - begun
            self._busy += seconds
            if done:
                self._done[which].add(self._prompts[item.position], seconds)

    def seconds(self) -> float | None:
        """Estimated remaining seconds; None before anything is known."""
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
                seen = self._observations_for(which, together)
                if not seen.count or not (seen.prompts or self._asks_nothing(waiting, working)):
                    return None
                time_of = seen.fitted_with(working)
                left += waiting.count * time_of.of(waiting.usual)
                left += sum(expected(time_of.of(prompts), waited) - waited for prompts, waited in working)
                number += waiting.count
            found = left / min(together, max(1, number))
            return found if self._ends is None else min(found, max(0.0, self._ends - now))

    def paces(self) -> dict[Which, ItemTime]:
        """The pace of each model and task so far, in elapsed seconds."""
        with self._lock:
            together = self._together(self._clock())
            asked = {which: seen for which, seen in self._done.items() if seen.prompts}
            return {which: seen.fitted().times(1 / together) for which, seen in asked.items()}

    def _wait(self, item: Item, number: int) -> None:
        waiting = self._waiting[item.model, item.task]
        waiting.count += number
        waiting.prompts += number * self._prompts[item.position]

    def _together(self, now: float) -> float:
        """Average number of items in progress at a time."""
        if self._first is None:
            return 1.0
        busy = self._busy + sum(now - begun for _, begun in self._working.values())
        return max(1.0, busy / max(now - self._first, 1e-9))

    @staticmethod
    def _asks_nothing(waiting: _Waiting, working: Iterable[tuple[float, float]]) -> bool:
        return waiting.prompts <= 0 and not any(prompts for prompts, _ in working)

    def _observations_for(self, which: Which, together: float) -> ItemTimes:
        """Observations for a model and task: of both, else of this task, of this model, or of all."""
        own = self._done.get(which, ItemTimes())
        if (before := self._known_before.get(which)) is not None:
            usual, known = self._usual[which], ItemTimes()
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
