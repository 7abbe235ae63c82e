"""The order in which the items of a run begin: random within each task, so that a stopped run is a sample.

A size decides only which of the next few items begins: the largest, because a large one that begins last runs
alone while the other processors wait. Blocks of a few items keep a small one from waiting until the end.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item
from counterlens.syntax.functions import is_internal

AHEAD = 4
"""Items of which the largest begins first: as many as a stopped run may miss of its sample."""


def in_random_order(
    items: Iterable[Item], settings: RunSettings, size: Callable[[Item], float] = lambda _item: 0.0
) -> list[Item]:
    """All items of a model, task by task, each in the order that the run's seed gives the functions.

    The order is the same for every model, and after resuming. If time is limited, internal functions come
    after all public ones, as they do in a sample.

    Args:
        items: All items of the model, done or not, in the order of the plan.
        size: About the work of an item.
    """
    parts: dict[str, list[Item]] = {}
    for item in items:
        parts.setdefault(item.task, []).append(item)
    return [item for task, part in parts.items() for item in _part(part, task, settings, size)]


def by_functions(
    items: Sequence[Item], settings: RunSettings, work: Callable[[Item], float]
) -> Iterator[list[Item]]:
    """Items of several models, all those about one function together, in random order.

    Args:
        items: All items of the models, done or not, in the order of the plan.
        work: About the work of an item.
    """
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        groups.setdefault((item.task, item.problem), []).append(item)
    firsts = [group[0] for group in groups.values()]
    for first in in_random_order(
        firsts, settings, lambda item: max(map(work, groups[item.task, item.problem]))
    ):
        yield groups[first.task, first.problem]


def _part(
    part: list[Item], task: str, settings: RunSettings, size: Callable[[Item], float]
) -> Iterator[Item]:
    """The items of one task."""
    random.Random(f"{settings.seed} {task}").shuffle(part)  # noqa: S311 - no secret
    if settings.minutes is not None:
        part.sort(key=lambda item: is_internal(item.function))
    for start in range(0, len(part), AHEAD):
        yield from sorted(part[start : start + AHEAD], key=size, reverse=True)
