"""Concurrent coroutines, and groups of prompts for one request."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from counterlens.models.base import Prompt

T = TypeVar("T")

MOST_SEVERAL: Final = 16
"""Maximum number of answers to one request: many endpoints give no more."""


async def together(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """The results in order; the first failure cancels the others."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in work]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from failed.exceptions[0].__cause__
    return [task.result() for task in tasks]


def same_but_for_the_draw(prompts: Sequence[Prompt]) -> list[list[int]]:
    """Groups of the indices of prompts that differ only in the sample.

    Prompts that begin alike are next to each other, so that an endpoint's prefix cache can be used.
    """
    groups: dict[Prompt, list[list[int]]] = {}
    for at, prompt in enumerate(prompts):
        alike = prompt if prompt.draw is None else replace(prompt, draw=replace(prompt.draw, index=0))
        batches = groups.setdefault(alike, [])
        if prompt.draw is None or not batches or len(batches[-1]) == MOST_SEVERAL:
            batches.append([])
        batches[-1].append(at)
    ordered = sorted(groups.items(), key=lambda group: group[0].text)
    return [places for _, chunks in ordered for places in chunks]
