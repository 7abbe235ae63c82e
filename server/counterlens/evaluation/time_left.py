"""Estimates of duration: of a run, and of one piece of work in the editor; all are at measured rates.

A run takes its work at the rate of earlier runs, or of its own items so far. The work of an item is its
prompts in the plan, and a constant for finding and running its tests. An item in progress is done as far as
it has run its programs, whose number is about proportional to its work.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock

from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item
from counterlens.models.files import known_number, note
from counterlens.sandbox.following import following_programs

BESIDE = 3.0
"""Work of an item beside its prompts, in prompts."""
_PROGRAMS = 3.0  # programs per unit of work, until items have shown their own
_KNOWN = 4.0  # weight of the rate of earlier runs, in items
_MOST = 0.9  # largest done share of an item in progress
_MEMORY = "run-rates.json"
_PACES = "editor-paces.json"
_FROM_SECONDS, _FROM_SHARE = 2.0, 0.05  # no estimate of a step before this time and this share of it
_CACHED = 0.5  # share of the known pace; faster work had cached responses, which do not show the pace
_PER_SECOND = 1.1  # maximum factor by which an estimate changes per second, beside the passing of time
_COUNTED = ("max_tokens", "samples", "ways")  # options that change the cost of a prompt

Which = tuple[str, str]
"""A model and a task."""
Rates = Mapping[Which, float]
"""Elapsed seconds per unit of work, by model and task."""


class TimeLeft:
    """Follows the items of a run; thread-safe.

    Args:
        items: The remaining items, in the order of their models.
        prompts: Estimated number of prompts by task and by function name.
        rates: Rates of earlier runs.
        most: Time limit of the run in seconds; None for no limit.
        clock: Returns the time, in seconds.
    """

    def __init__(
        self,
        items: Iterable[Item],
        prompts: Mapping[str, Mapping[str, float]],
        *,
        rates: Rates | None = None,
        most: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock, self._lock, self._rates = clock, Lock(), dict(rates or {})
        self._ends = math.inf if most is None else clock() + most
        self._work = {item: prompts[item.task][item.problem] + BESIDE for item in items}
        self._left: defaultdict[Which, float] = defaultdict(float)
        self._items = Counter((item.model, item.task) for item in self._work)
        for item, work in self._work.items():
            self._left[item.model, item.task] += work
        self._usual = {which: self._left[which] / count for which, count in self._items.items()}
        self._working: dict[Item, tuple[float, int]] = {}  # since when, and programs so far
        self._busy: defaultdict[Which, float] = defaultdict(float)
        self._done: defaultdict[Which, float] = defaultdict(float)
        self._programs = 0
        self._passed: defaultdict[str, float] = defaultdict(float)
        self._looked = clock()

    def work(self, item: Item) -> float:
        """The estimated work of an item, in prompts."""
        return self._work.get(item, 0.0)

    @contextmanager
    def following(self, item: Item) -> Iterator[None]:
        """Follow an item on this thread; one that fails shows nothing about others."""
        with self._lock:
            self._working[item] = self._look(), 0
        is_done = False
        try:
            with following_programs(lambda _seconds: self._count_program(item)):
                yield
            is_done = True
        finally:
            with self._lock:
                now = self._look()
                since, programs = self._working.pop(item)
                which = item.model, item.task
                self._items[which] -= 1
                self._left[which] -= self._work[item]
                if is_done:
                    self._busy[which] += now - since
                    self._done[which] += self._work[item]
                    self._programs += programs

    def _count_program(self, item: Item) -> None:
        with self._lock:
            since, programs = self._working[item]
            self._working[item] = since, programs + 1

    def seconds(self) -> float | None:
        """Estimated remaining seconds; None while the rate of a model is unknown."""
        with self._lock:
            now = self._look()
            left = [
                self._of(model) for model in {model for (model, _), count in self._items.items() if count}
            ]
            estimates = [seconds for seconds in left if seconds is not None]
            return None if len(estimates) < len(left) else max(0.0, min(sum(estimates), self._ends - now))

    def _look(self) -> float:
        """The time, until which the time since the last look is shared by the models of the items in work."""
        now = self._clock()
        for model, count in Counter(item.model for item in self._working).items():
            self._passed[model] += (now - self._looked) * count / len(self._working)
        self._looked = now
        return now

    def _of(self, model: str) -> float | None:
        """The remaining elapsed seconds of a model.

        Earlier runs show how its tasks differ; unless they did all of them, a unit of work is one second.
        """
        tasks = [which for which in self._items if which[0] == model]
        is_known = all(which in self._rates for which in tasks)
        usual = {which: self._rates[which] if is_known else 1.0 for which in tasks}
        in_progress = [item for item in self._working if item.model == model]
        working = sum(
            usual[item.model, item.task] * self._share(item) * self._work[item] for item in in_progress
        )
        finished = sum(usual[which] * self._done[which] for which in tasks)
        mean = sum(usual[which] * self._usual[which] for which in tasks) / len(tasks)
        if len(in_progress) > 1:
            # All have run their programs, and wait for the model: how long, only those that ended show.
            working = min(working, finished + mean if finished else 0.0)
        left = sum(usual[which] * self._left[which] for which in tasks) - working
        done = finished + working
        passed = self._passed[model]
        if is_known:
            return left * (passed + _KNOWN * mean) / (done + _KNOWN * mean)
        return left * passed / done if done >= mean / 2 else None

    def _share(self, item: Item) -> float:
        """The done share of an item in progress."""
        done, mean = sum(self._done.values()), sum(self._usual.values()) / len(self._usual)
        per_unit = (self._programs + _PROGRAMS * mean) / (done + mean)
        return min(_MOST, self._working[item][1] / (per_unit * self._work[item]))

    def rates(self) -> dict[Which, float]:
        """The rate of each model and task so far."""
        with self._lock:
            now, done = self._look(), {which: done for which, done in self._done.items() if done}
            busy = defaultdict[str, float](float)
            for (model, _), seconds in self._busy.items():
                busy[model] += seconds
            for item, (since, _) in self._working.items():
                busy[item.model] += now - since
            return {
                which: self._busy[which] / busy[which[0]] * self._passed[which[0]] / amount
                for which, amount in done.items()
                if busy[which[0]]
            }


class StepsLeft:
    """The remaining time of work that is done in steps, each with a progress of its own.

    An estimate that a reader sees changes gradually: it neither jumps with the first item of a step, nor
    begins again with each step.

    Args:
        expected: Seconds that the whole work takes at the pace of earlier work; None if unknown.
        clock: Returns the time, in seconds.
    """

    def __init__(self, expected: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._expected = clock, expected
        self._begun = self._step_begun = self._seen = clock()
        self._step, self._first_share, self._share = "", 0.0, 0.0
        self._shown: float | None = None

    @property
    def is_whole(self) -> bool:
        """Whether estimates are about the whole work, and not only about the step."""
        return self._expected is not None

    def after(self, step: str, share: float) -> float | None:
        """Seconds left after a share of a step; None if it is too early to decide."""
        now = self._clock()
        if step != self._step or share < self._share:
            self._step, self._step_begun, self._first_share = step, now, share
            if not self.is_whole:
                self._shown = None
        self._share = share
        left = self._of_step(now, share)
        if self._expected is not None:
            whole = self._expected - (now - self._begun)
            left = max(whole, left or 0.0) if whole > 0 or left is not None else None
        if left is None:
            return None
        if self._shown is not None:
            passed = now - self._seen
            factor = _PER_SECOND**passed
            left = min(max(left, (self._shown - passed) / factor), self._shown * factor)
        self._shown, self._seen = left, now
        return left

    def _of_step(self, now: float, share: float) -> float | None:
        passed, done = now - self._step_begun, share - self._first_share
        if passed < _FROM_SECONDS or done < _FROM_SHARE or share >= 1:
            return None
        return passed * (1 - share) / done


def expected_seconds(model: str, what: str, amount: float) -> float | None:
    """Estimate a duration from the pace of earlier work on this machine; None if there was none.

    Args:
        model: The model, as the settings name it.
        what: Kind of work, such as the id of a task.
        amount: Amount of work, in the unit passed to `note_pace`.
    """
    pace = known_number(_PACES, f"{model} {what}")
    return None if pace is None else pace * amount


def note_pace(model: str, what: str, amount: float, seconds: float) -> None:
    """Record a duration, unless most responses were cached: then it does not predict the next one."""
    if amount < 1:
        return
    pace, before = seconds / amount, known_number(_PACES, f"{model} {what}")
    if before is not None:
        if pace < before * _CACHED:
            return
        pace = (pace + before) / 2
    note(_PACES, f"{model} {what}", f"{pace:.4g}")


def known_rates(settings: RunSettings) -> dict[Which, float]:
    """The rates of earlier runs with the same models asked in the same way, best on the same data."""
    rates = {}
    for model in settings.models:
        for task in settings.tasks:
            for data in (settings.data, None):
                rate = known_number(_MEMORY, _key(settings, model, task, data))
                if rate is not None:
                    rates[model, task] = rate
                    break
    return rates


def note_rates(settings: RunSettings, left: TimeLeft) -> None:
    """Store the rates of a run."""
    for (model, task), rate in left.rates().items():
        for data in (settings.data, None):
            note(_MEMORY, _key(settings, model, task, data), f"{rate:.4g}")


def _key(settings: RunSettings, model: str, task: str, data: str | None) -> str:
    api, base_url = settings.served(model)
    options = settings.options.get(task, {})
    costs = {name: options[name] for name in _COUNTED if options.get(name)}
    return json.dumps([model, base_url, api, task, settings.threads, settings.gpu_layers, costs, data])
