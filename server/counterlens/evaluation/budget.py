"""The time that a run may take, shared by its models."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item


class Budget:
    """The time limit of a run in minutes, from its creation; without a limit, all items are begun.

    Work in progress at the end of a model's time is finished. All models are asked about the same functions:
    a later model only about those that the first one reached.

    Args:
        settings: Settings of the run.
        clock: Returns the time, in seconds.
    """

    def __init__(self, settings: RunSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._models, self._clock = settings.models, clock
        self._ends = None if settings.minutes is None else clock() + 60 * settings.minutes

    def same(self, left: Sequence[Item], done: Sequence[Item]) -> list[Item]:
        """The items of a model about functions that the first model was asked about.

        Args:
            left: Remaining items of the model.
            done: Finished items of all models.
        """
        first = {(one.task, one.problem) for one in done if one.model == self._models[0]}
        later = self._ends is not None and bool(first) and any(one.model != self._models[0] for one in left)
        return [one for one in left if not later or (one.task, one.problem) in first]

    def begun(self, left: Sequence[Item], model: str) -> Iterator[Item]:
        """The items of a model that begin before its share of the time is over.

        Args:
            left: The model's items, in order.
            model: The model, which shares the remaining time equally with those after it.
        """
        if self._ends is None:
            return iter(left)
        now = self._clock()
        until = now + (self._ends - now) / (len(self._models) - self._models.index(model))
        return takewhile(lambda _: self._clock() < until, left)
