"""A private event loop in a thread, for synchronous callers with cancellable requests; requests together.

A blocking read cannot be interrupted cleanly from another thread; a task can. Cancelling it closes the
connection at once, whether the server is silent or slow.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import queue
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Prompt

T = TypeVar("T")

_POLL = 0.03  # seconds between two checks of the caller's cancel event
_MOST_POLL = 0.2  # of a request that takes longer: many may wait at the same time
_CLOSING = 5.0  # maximum duration of closing, in seconds
MOST_SEVERAL: Final = 16
"""Maximum number of answers to one request: many endpoints give no more."""


class Background:
    """Runs coroutines for any thread; the first call starts it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def run(
        self,
        work: Callable[[Callable[[], None]], Coroutine[Any, Any, T]],
        *,
        cancel: threading.Event | None = None,
        step: Callable[[], None] = lambda: None,
    ) -> T:
        """Run a coroutine to its end, or until `cancel` is set.

        Args:
            work: Creates the coroutine. It gets a function that makes `step` run in the calling thread.
            cancel: Set by any thread to cancel.
            step: Called in the calling thread.

        Raises:
            Cancelled: `cancel` was set.
            ModelError: the loop was closed.
        """
        if cancel is not None and cancel.is_set():
            raise Cancelled
        signals: queue.SimpleQueue[bool] = queue.SimpleQueue()
        coroutine = work(lambda: signals.put(False))
        try:
            with self._lock:
                future = asyncio.run_coroutine_threadsafe(coroutine, self._started())
        except BaseException:
            coroutine.close()
            raise
        future.add_done_callback(lambda _: signals.put(True))
        try:
            self._wait(signals, cancel, step)
            return future.result()
        except concurrent.futures.CancelledError:
            raise ModelError("the model was closed while it was answering") from None
        finally:
            future.cancel()

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Cancel what is running, run a last coroutine, and end the thread."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return

        async def end() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await last()

        with contextlib.suppress(TimeoutError):  # the thread is a daemon: it may be left behind
            asyncio.run_coroutine_threadsafe(end(), loop).result(_CLOSING)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSING)

    @staticmethod
    def _wait(
        signals: queue.SimpleQueue[bool], cancel: threading.Event | None, step: Callable[[], None]
    ) -> None:
        poll = _POLL
        while True:
            try:
                finished = signals.get(timeout=poll)
            except queue.Empty:
                finished, poll = False, min(_MOST_POLL, poll * 1.1)
            else:
                if finished:
                    return
                step()
            if cancel is not None and cancel.is_set():
                raise Cancelled

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._closed:
            raise ModelError("the model is closed", "Load it again")
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_serve, args=(self._loop,), name=self._name, daemon=True)
            self._thread.start()
        return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


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
