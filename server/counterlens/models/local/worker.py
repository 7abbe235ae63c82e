"""The child's side: requests on standard input, responses on standard output, cancellation, pooling."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from counterlens.errors import Cancelled, CounterlensError
from counterlens.models.base import Progress
from counterlens.models.local.messages import Advanced, Cancel, Envelope, Failed, receive, send

LATER = object()
"""Returned by `Worker.answer` for a request that `Worker.advance` will finish."""


class Pooling(IntEnum):
    """The way to pool token vectors; the numbers are those of GGUF."""

    MEAN = 1
    FIRST = 2
    LAST = 3


def pool(states: npt.NDArray[np.float32], pooling: Pooling) -> npt.NDArray[np.float32]:
    """Pool (n, dimensions) states, n > 0, to one vector."""
    if pooling is Pooling.MEAN:
        return np.asarray(states.mean(axis=0, dtype=np.float64), np.float32)
    return np.asarray(states[0] if pooling is Pooling.FIRST else states[-1])


class Worker(ABC):
    """Handles requests in order; a second thread listens for cancellation.

    Requests for which `answer` returns `LATER` are worked on together, and those that `joins` accepts are
    answered meanwhile. Any other request waits for them, and later ones wait behind it.

    Attributes:
        cancelled: Set to cancel the current work; None until a model is loaded.
    """

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self.cancelled: Event | None = None
        self._requests = requests
        self._answers = answers
        self._queue: SimpleQueue[Envelope] = SimpleQueue()
        self._lock = threading.Lock()
        self._current = 0
        self._withdrawn: set[int] = set()
        self._unfinished: set[int] = set()

    @abstractmethod
    def answer(self, number: int, request: Any, progress: Progress) -> Any:
        """Handle request `number`, or accept it and return `LATER`.

        Raises:
            Cancelled: `cancelled` was set.
            CounterlensError: the request failed.
        """

    def joins(self, request: Any) -> bool:
        """Whether a request can be accepted or answered while others are unfinished."""
        del request
        return False

    def advance(self, withdrawn: Callable[[int], bool]) -> Mapping[int, Callable[[], Any]]:
        """Work on the accepted requests for a moment.

        Args:
            withdrawn: Whether a request was cancelled.

        Returns:
            The finished requests; each function returns the answer, or raises as `answer`.
        """
        del withdrawn
        return {}

    def run(self) -> None:
        """Serve until the parent ends."""
        threading.Thread(target=self._listen, daemon=True).start()
        waiting: Envelope | None = None
        while True:
            if waiting is None:
                with contextlib.suppress(Empty):
                    waiting = self._queue.get(block=not self._unfinished)
            if waiting and (not self._unfinished or self.joins(waiting.content)):
                number = waiting.number
                self._finish(number, partial(self._answer, waiting))
                waiting = None
                if number in self._unfinished:
                    continue  # accept all requests that have arrived before working on them
            if self._unfinished:
                alone = len(self._unfinished) == 1
                self._work_on(next(iter(self._unfinished)) if alone else 0)
                for number, result in self.advance(self._withdrawn.__contains__).items():
                    self._finish(number, result)

    def _finish(self, number: int, result: Callable[[], Any]) -> None:
        """Send the answer to a request, unless it will come later."""
        try:
            answer = result()
        except Cancelled:
            answer = Failed("cancelled", cancelled=True)
        except CounterlensError as error:
            answer = Failed(error.message, error.hint)
        except Exception as error:  # one failed request must not end the process
            answer = Failed(f"the model process failed: {type(error).__name__}: {error}")
        if answer is LATER:
            self._unfinished.add(number)
            return
        self._unfinished.discard(number)
        send(self._answers, Envelope(number, answer, time.process_time()))

    def _listen(self) -> None:
        while (message := receive(self._requests)) is not None:
            if isinstance(message, Cancel):
                with self._lock:
                    self._withdrawn.add(message.number)
                    if message.number == self._current and self.cancelled:
                        self.cancelled.set()
            else:
                self._queue.put(message)
        os._exit(0)  # the parent has ended, and the engine may be in the middle of a decode

    def _work_on(self, number: int) -> None:
        """Note which request alone is cancelled by `cancelled`; 0 if several are worked on."""
        with self._lock:
            self._current = number
            if self.cancelled:
                self.cancelled.clear()
                if number in self._withdrawn:
                    self.cancelled.set()

    def _answer(self, envelope: Envelope) -> Any:
        def progress(done: int, total: int) -> None:
            send(self._answers, Envelope(envelope.number, Advanced(done, total), time.process_time()))

        with self._lock:
            keep = self._unfinished
            self._withdrawn = {
                number for number in self._withdrawn if number in keep or number >= envelope.number
            }
        self._work_on(envelope.number)
        if envelope.number in self._withdrawn:
            raise Cancelled
        return self.answer(envelope.number, envelope.content, progress)


def serve(kind: type[Worker]) -> None:
    """Take over the standard streams, so that a library's output cannot get among the responses."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123 - for the life of the process
    if hasattr(os, "nice"):
        os.nice(5)  # the editor comes first
    kind(requests, answers).run()
