"""Turns on the model: the most urgent caller comes next, and interrupts a less urgent one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from threading import Event
from typing import Generic, TypeVar

from counterlens.errors import Cancelled

Who = TypeVar("Who")


class Turns(Generic[Who]):
    """One turn at a time, the most urgent caller first. For one event loop.

    Args:
        urgency: Current sort key of a caller; less comes first.
    """

    def __init__(self, urgency: Callable[[Who], tuple[int, ...]]) -> None:
        self._urgency = urgency
        self._waiting: list[tuple[Who, asyncio.Future[Event]]] = []
        self._holder: tuple[Who, Event] | None = None

    @asynccontextmanager
    async def take(self, who: Who) -> AsyncIterator[Event]:
        """Wait for a turn, and hold it while the context lasts.

        The event that it yields is set when the work should stop: because a more urgent caller waits, or
        because the task was cancelled. `Cancelled` from interrupted work ends the context quietly; the
        interrupted caller asks for another turn.
        """
        granted = asyncio.get_running_loop().create_future()
        entry = (who, granted)
        self._waiting.append(entry)
        self.reconsider()
        try:
            interrupt = await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled():
                self._release()
            else:
                self._waiting.remove(entry)
            raise
        try:
            yield interrupt
        except asyncio.CancelledError:
            interrupt.set()
            raise
        except Cancelled:
            if not interrupt.is_set():
                raise
        finally:
            self._release()

    def reconsider(self) -> None:
        """Give the turn to the most urgent caller, or ask its holder to give way."""
        able = [waiting for waiting in self._waiting if not waiting[1].done()]
        if not able:
            return
        entry = min(able, key=lambda waiting: self._urgency(waiting[0]))
        if self._holder is None:
            self._waiting.remove(entry)
            interrupt = Event()
            self._holder = (entry[0], interrupt)
            entry[1].set_result(interrupt)
        elif self._urgency(entry[0]) < self._urgency(self._holder[0]):
            self._holder[1].set()

    def interrupt(self, who: Who) -> None:
        """Ask a caller that has the turn to stop its work, because it has something more urgent to do."""
        if self._holder is not None and self._holder[0] is who:
            self._holder[1].set()

    def _release(self) -> None:
        self._holder = None
        self.reconsider()
