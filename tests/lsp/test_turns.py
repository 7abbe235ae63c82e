"""Turns: one at a time, the most urgent first, and who is less urgent makes way."""

from __future__ import annotations

import asyncio

import pytest

from counterlens.errors import Cancelled
from counterlens.lsp.background import Turns

URGENT, USUAL = 0, 1


async def working(turns: Turns[int], who: int, done: list[int], *, seconds: float = 0.05) -> None:
    """Work as the model does: look now and then whether to give up, and then begin again."""
    while who not in done:
        async with turns.take(who) as interrupt:
            for _ in range(int(seconds / 0.01)):
                await asyncio.sleep(0.01)
                if interrupt.is_set():
                    raise Cancelled
            done.append(who)


async def test_the_most_urgent_comes_first_and_interrupts() -> None:
    turns: Turns[int] = Turns(lambda who: (who,))
    done: list[int] = []
    usual = asyncio.create_task(working(turns, USUAL, done, seconds=0.3))
    await asyncio.sleep(0.05)
    await working(turns, URGENT, done)
    assert done == [URGENT]
    await usual
    assert done == [URGENT, USUAL]


async def test_who_is_as_urgent_waits() -> None:
    turns: Turns[int] = Turns(lambda _who: (0,))
    done: list[int] = []
    await asyncio.gather(*(working(turns, who, done) for who in range(5)))
    assert sorted(done) == [0, 1, 2, 3, 4]
    assert done[0] == 0


async def test_the_turn_comes_free_when_its_holder_or_a_waiting_task_is_cancelled() -> None:
    turns: Turns[int] = Turns(lambda who: (who,))
    done: list[int] = []
    holder = asyncio.create_task(working(turns, 1, done, seconds=5))
    await asyncio.sleep(0.02)
    waiting = asyncio.create_task(working(turns, 2, done))
    await asyncio.sleep(0.02)
    waiting.cancel()
    holder.cancel()
    await asyncio.gather(holder, waiting, return_exceptions=True)
    await asyncio.wait_for(working(turns, 3, done), 60)
    assert done == [3]


async def test_cancelled_out_of_work_that_nobody_interrupted_is_an_error() -> None:
    turns: Turns[int] = Turns(lambda who: (who,))
    with pytest.raises(Cancelled):
        async with turns.take(1):
            raise Cancelled
