"""The time limit of a run (`--minutes`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile

from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item


class TimeLimit:
    """The time limit of a run in minutes, from its creation; without a limit, all items are begun.

    Work in progress at the end of the time is finished. All models are asked about the same functions: models
    that are not open together with the first one, only about those that it reached.

    Args:
        clock: Returns the time, in seconds.
    """

    def __init__(self, settings: RunSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._models, self._clock = settings.models, clock
        self._ends = None if settings.minutes is None else clock() + 60 * settings.minutes

    def begun(
        self, functions: Iterable[Sequence[Item]], models: Sequence[str], later: int, done: Sequence[Item]
    ) -> Iterator[Sequence[Item]]:
        """The functions that begin before the time of some models is over.

        Args:
            functions: The remaining items about each function, in order.
            models: The models, which share the remaining time with those after them.
            later: Number of models after them.
            done: Finished items of all models.
        """
        if self._ends is None:
            return iter(functions)
        first = {(item.task, item.problem) for item in done if item.model == self._models[0]}
        is_later = bool(first) and self._models[0] not in models
        now = self._clock()
        until = now + (self._ends - now) * len(models) / (len(models) + later)
        same = (
            function
            for function in functions
            if not is_later or (function[0].task, function[0].problem) in first
        )
        return takewhile(lambda _: self._clock() < until, same)
