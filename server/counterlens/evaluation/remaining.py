"""The remaining duration of a run: the remaining work of each item, shared among those that process it.

Functions differ widely in their number of prompts and programs, so they count by these, not by their number,
and so does the part of an item that is done. The time per prompt and per function comes from an earlier run
of the same model and task, or else from finished items. The seconds of this run over those expected for its
work so far are one factor for all that remains, which a few items determine better than two numbers.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from threading import Lock, local

from counterlens.evaluation.item_time import BESIDE, ItemTime, ItemTimes, expected
from counterlens.evaluation.item_work import Work, WorkSeen
from counterlens.evaluation.schedule import elapsed
from counterlens.evaluation.store import Item
from counterlens.sandbox.following import following_programs

_OWN_PACE = 60.0
"""Number of programs and prompts after which an item's own pace counts as much as that of all items."""

Which = tuple[str, str]
"""A model and a task."""
Paces = Mapping[Which, ItemTime]
"""The time of an item by model and task, in elapsed seconds."""


class RemainingTime:
    """Follows the items of a run; thread-safe.

    Args:
        items: The remaining work.
        prompts: Estimated number of prompts by task and by function name.
        known: Paces of earlier runs.
        most: Time limit of the run in seconds; None for no limit.
        elsewhere: The models behind an endpoint, which do not use this machine's processors.
        processors: Number of processors that run programs.
        clock: Returns the time, in seconds.
    """

    def __init__(
        self,
        items: Iterable[Item],
        prompts: Mapping[str, Mapping[str, float]],
        *,
        known: Paces | None = None,
        most: float | None = None,
        elsewhere: Collection[str] = (),
        processors: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock, self._lock, self._thread = clock, Lock(), local()
        self._ends = None if most is None else clock() + most
        self._elsewhere, self._processors = frozenset(elsewhere), processors
        items = list(items)
        self._prompts = {item.position: prompts[item.task][item.problem] for item in items}
        self._waiting = {item.position: (item.model, item.task) for item in self.in_order(items)}
        self._sizes: defaultdict[Which, ItemTimes] = defaultdict(ItemTimes)
        for position, which in self._waiting.items():
            self._sizes[which].add(self._prompts[position], 0.0)
        self._known_before = dict(known or {})
        self._working: dict[int, tuple[Which, Work]] = {}
        self._seen: defaultdict[Which, WorkSeen] = defaultdict(WorkSeen)
        self._done: defaultdict[Which, ItemTimes] = defaultdict(ItemTimes)
        self._first: float | None = None
        self._busy = 0.0

    def in_order(self, items: Iterable[Item]) -> list[Item]:
        """Items in the order in which they begin: within each task, the largest and the smallest by turns.

        A large item that begins last runs alone for a long time, while the other processors wait. Small ones
        among the large show early what an item costs that has few prompts.
        """
        parts: dict[Which, list[Item]] = {}
        for item in items:
            parts.setdefault((item.model, item.task), []).append(item)
        size = self._prompts
        return [
            item
            for part in parts.values()
            for item in _by_turns(sorted(part, key=lambda one: -size.get(one.position, 0.0)))
        ]

    @contextmanager
    def following(self, item: Item) -> Iterator[None]:
        """Follow an item on this thread, with its programs; an item that fails shows nothing about others."""
        self.begin(item)
        done, self._thread.item = False, item
        try:
            with following_programs(lambda seconds: self.note(item, programs=1, seconds=seconds)):
                yield
            done = True
        finally:
            self._thread.item = None
            self.end(item, done=done)

    def note_prompts(self, prompts: int, seconds: float) -> None:
        """Record answered prompts of the item that this thread follows."""
        item = getattr(self._thread, "item", None)
        if item is not None:
            self.note(item, prompts=prompts, seconds=seconds)

    def begin(self, item: Item) -> None:
        """Record the beginning of an item."""
        with self._lock:
            now = self._clock()
            self._first = now if self._first is None else self._first
            which = self._waiting.pop(item.position)
            self._working[item.position] = which, Work(self._prompts[item.position], now)

    def note(self, item: Item, *, programs: int = 0, prompts: int = 0, seconds: float) -> None:
        """Record programs or prompts of an item in progress, and their seconds."""
        with self._lock:
            _, work = self._working[item.position]
            work.programs += programs
            work.prompts += prompts
            work.program_seconds += seconds if programs else 0.0
            work.prompt_seconds += seconds if prompts else 0.0

    def end(self, item: Item, *, done: bool = True) -> None:
        """Record the end of an item.

        Args:
            item: The item.
            done: Whether it succeeded; a failed item shows nothing about others.
        """
        with self._lock:
            which, work = self._working.pop(item.position)
            seconds = self._clock() - work.begun
            self._busy += seconds
            if done:
                self._done[which].add(work.planned, seconds)
                self._seen[which].add(work, done=True)

    def seconds(self) -> float | None:
        """Estimated remaining seconds; None before anything is known."""
        with self._lock:
            now = self._clock()
            together, seen = self._together(now), self._seen_so_far()
            total = 0.0
            for model in dict.fromkeys(which[0] for which in [*self._in_progress(), *self._waiting.values()]):
                left = self._left_of(model, seen, together, now)
                if left is None:
                    return None
                total += left
            return total if self._ends is None else min(total, max(0.0, self._ends - now))

    def _left_of(
        self, model: str, seen: Mapping[Which, WorkSeen], together: float, now: float
    ) -> float | None:
        """The elapsed seconds of a model's items, which run after those of the models before it."""
        paces = {
            which: self._pace(which, seen, together, now)
            for which in {*self._in_progress(), *self._waiting.values()}
            if which[0] == model
        }
        known = {which: pace for which, pace in paces.items() if pace is not None}
        if len(known) < len(paces):
            return None
        working = [
            self._rest(work, known[which], seen[which], now)
            for which, work in self._working.values()
            if which[0] == model
        ]
        waiting = [
            known[which].of(self._prompts[position])
            for position, which in self._waiting.items()
            if which[0] == model
        ]
        return elapsed(
            working,
            waiting,
            workers=together,
            shared=self._shared(seen, model, now),
            processors=self._processors,
        )

    def _pace(
        self, which: Which, seen: Mapping[Which, WorkSeen], together: float, now: float
    ) -> ItemTime | None:
        """The expected time of an item; None before anything is known."""
        before = self._known_before.get(which)
        if before is not None:
            usual = before.times(together)
            return usual.times(self._factor([which], usual, before.weight, seen, now))
        model, task = which
        for near in (
            [which],
            [one for one in self._sizes if one[1] == task],
            [one for one in self._sizes if one[0] == model],
            list(self._sizes),
        ):
            done = sum((self._done[one] for one in near if one in self._done), ItemTimes())
            usual = done.fitted() if done.prompts else ItemTime(1.0, BESIDE)
            factor = self._factor(near, usual, 0.0, seen, now)
            if factor:
                return usual.times(factor)
        return None

    def _factor(
        self,
        group: Collection[Which],
        usual: ItemTime,
        weight: float,
        seen: Mapping[Which, WorkSeen],
        now: float,
    ) -> float:
        """The seconds so far over the usual ones of the same work; 0 if none is known.

        Args:
            group: Models and tasks to take into account.
            usual: The usual time of an item.
            weight: Weight of the usual time, in items; without one, half an item must be done.
            seen: The work so far.
            now: The time.
        """
        seconds = expected_seconds = 0.0
        for one in group:
            if one in self._done:
                seconds += self._done[one].seconds
                expected_seconds += self._done[one].expected(usual)
        for one, work in self._working.values():
            share = seen[one].share(work) if one in group else None
            if share is not None:
                seconds += now - work.begun
                expected_seconds += share * usual.of(work.planned)
        sizes = sum((self._sizes[one] for one in group), ItemTimes())
        item = sizes.expected(usual) / sizes.count
        if not weight and expected_seconds < item / 2:
            return 0.0
        total = weight * item + expected_seconds
        return (weight * item + seconds) / total if total else 1.0

    @staticmethod
    def _rest(work: Work, pace: ItemTime, seen: WorkSeen, now: float) -> float:
        """The remaining seconds of an item in progress."""
        waited, whole = now - work.begun, pace.of(work.planned)
        share = seen.share(work)
        if share is None:
            return expected(whole, waited) - waited
        if not share or not whole:
            return whole
        own = waited / (share * whole)
        counted = work.programs + work.prompts
        return (1 - share) * whole * (counted * own + _OWN_PACE) / (counted + _OWN_PACE)

    def _shared(self, seen: Mapping[Which, WorkSeen], model: str, now: float) -> float:
        """The share of the time in which a model's items use the processors of this machine."""
        if model not in self._elsewhere:
            return 1.0
        total = sum(done.seconds for one, done in self._done.items() if one[0] == model)
        total += sum(now - work.begun for one, work in self._working.values() if one[0] == model)
        away = sum(work.prompt_seconds for one, work in seen.items() if one[0] == model)
        return max(0.0, 1 - away / total) if total else 1.0

    def _in_progress(self) -> list[Which]:
        return [which for which, _ in self._working.values()]

    def _seen_so_far(self) -> dict[Which, WorkSeen]:
        """Observations of finished items and items in progress, by model and task."""
        seen = dict(self._seen)
        for which, work in self._working.values():
            now = WorkSeen()
            now.add(work)
            seen[which] = seen.get(which, WorkSeen()) + now
        return seen

    def paces(self) -> dict[Which, ItemTime]:
        """The pace of each model and task so far, in elapsed seconds."""
        with self._lock:
            together = self._together(self._clock())
            asked = {which: seen for which, seen in self._done.items() if seen.prompts}
            return {which: seen.fitted().times(1 / together) for which, seen in asked.items()}

    def _together(self, now: float) -> float:
        """Average number of items in progress at a time."""
        if self._first is None:
            return 1.0
        busy = self._busy + sum(now - work.begun for _, work in self._working.values())
        return max(1.0, busy / max(now - self._first, 1e-9))


def _by_turns(items: list[Item]) -> list[Item]:
    """The first item, the last, the second, the last but one, and so on."""
    half = (len(items) + 1) // 2
    return [item for pair in zip_longest(items[:half], items[half:][::-1]) for item in pair if item]
