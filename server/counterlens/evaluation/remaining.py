"""The remaining duration of a run: the remaining work of each item, shared among those that process it.

Functions differ widely in their number of prompts and programs, so they count by these, not by their number,
and so does the part of an item that is done. The costs of a prompt include further ones, such as alternative
completions; they are learned from finished items of the same model and task.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock, local

from counterlens.evaluation.item_time import ItemTime, ItemTimes, expected
from counterlens.evaluation.item_work import Work, WorkSeen
from counterlens.evaluation.schedule import elapsed
from counterlens.evaluation.store import Item
from counterlens.sandbox.following import following_programs

_KNOWN_BEFORE = 2.0
"""Weight of an earlier run's pace, in items."""

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
        self._waiting = {item.position: (item.model, item.task) for item in self.largest_first(items)}
        self._known_before = dict(known or {})
        self._working: dict[int, tuple[Which, Work]] = {}
        self._seen: defaultdict[Which, WorkSeen] = defaultdict(WorkSeen)
        self._done: defaultdict[Which, ItemTimes] = defaultdict(ItemTimes)
        self._first: float | None = None
        self._busy = 0.0

    def largest_first(self, items: Iterable[Item]) -> list[Item]:
        """Items in the order in which a run ends soonest: within each task, those with most prompts first.

        A large item that begins last runs alone for a long time, while the other processors wait.
        """
        parts: dict[Which, list[Item]] = {}
        for item in items:
            parts.setdefault((item.model, item.task), []).append(item)
        size = self._prompts
        return [
            item
            for part in parts.values()
            for item in sorted(part, key=lambda one: -size.get(one.position, 0.0))
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
                self._seen[which].add(work, seconds)

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
        told = {
            which: self._observations_for(which, seen)
            for which in {*self._in_progress(), *self._waiting.values()}
            if which[0] == model
        }
        if not all(own.suffices or self._is_free(which) for which, own in told.items() if self._lacks(which)):
            return None
        working = [
            self._rest(which, work, told[which], together, now)
            for which, work in self._working.values()
            if which[0] == model
        ]
        sizes = [
            (which, self._prompts[position]) for position, which in self._waiting.items() if which[0] == model
        ]
        whole = {
            (which, planned): self._whole(which, planned, told[which], together)
            for which, planned in set(sizes)
        }
        return elapsed(
            working,
            [whole[size] for size in sizes],
            workers=together,
            shared=self._shared(sum(told.values(), WorkSeen()), model),
            processors=self._processors,
        )

    def _whole(self, which: Which, planned: float, seen: WorkSeen, together: float) -> float:
        """The seconds of an item, by this run and, until it has its own pace, by earlier ones."""
        before = self._known_before.get(which)
        if before is None:
            return seen.whole(planned)
        known = before.times(together).of(planned)
        weight = seen.items if seen.suffices else 0.0
        return (weight * seen.whole(planned) + _KNOWN_BEFORE * known) / (weight + _KNOWN_BEFORE)

    def _rest(self, which: Which, work: Work, seen: WorkSeen, together: float, now: float) -> float:
        """The remaining seconds of an item in progress."""
        waited = now - work.begun
        whole = self._whole(which, work.planned, seen, together)
        if not seen.suffices:
            return expected(whole, waited) - waited
        usual = seen.whole(work.planned)
        return seen.rest(work, waited) * (whole / usual if usual else 1.0)

    def _shared(self, seen: WorkSeen, model: str) -> float:
        """The share of the time in which items use the processors of this machine."""
        away = seen.prompt_seconds if model in self._elsewhere else 0.0
        total = seen.program_seconds + seen.prompt_seconds + seen.other.seconds
        return 1 - away / total if total else 0.0

    def _in_progress(self) -> list[Which]:
        return [which for which, _ in self._working.values()]

    def _lacks(self, which: Which) -> bool:
        """Whether no earlier run gives the pace of a model and task."""
        return which not in self._known_before

    def _is_free(self, which: Which) -> bool:
        """Whether none of the remaining items of a model and task has a prompt, and some have ended."""
        left = [self._prompts[position] for position, one in self._waiting.items() if one == which]
        left += [work.planned for one, work in self._working.values() if one == which]
        return bool(self._done) and not any(left)

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

    @staticmethod
    def _observations_for(which: Which, seen: Mapping[Which, WorkSeen]) -> WorkSeen:
        """Observations for a model and task: of both, else of this task, of this model, or of all."""
        model, task = which
        nothing = WorkSeen()
        for near in (
            [seen.get(which, nothing)],
            [one for (_, other), one in seen.items() if other == task],
            [one for (other, _), one in seen.items() if other == model],
            list(seen.values()),
        ):
            known = sum(near, WorkSeen())
            if known.suffices:
                return known
        return sum(seen.values(), WorkSeen())
