"""The child's side: requests on standard input, responses on standard output, cancellation in between."""

from __future__ import annotations

import os
import sys
import threading
from abc import ABC, abstractmethod
from queue import SimpleQueue
from threading import Event
from typing import IO, Any

from counterlens.errors import Cancelled, CounterlensError
from counterlens.models.base import Progress
from counterlens.models.local.messages import Advanced, Cancel, Envelope, Failed, receive, send


class Worker(ABC):
    """Handles one request at a time; a second thread listens for cancellation.

    Attributes:
        cancelled: Set to cancel the current request; None until a model is loaded.
    """

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self.cancelled: Event | None = None
        self._requests = requests
        self._answers = answers
        self._queue: SimpleQueue[Envelope] = SimpleQueue()
        self._lock = threading.Lock()
        self._current = 0
        self._withdrawn: set[int] = set()

    @abstractmethod
    def answer(self, request: Any, progress: Progress) -> Any:
        """Handle one request.

        Raises:
            Cancelled: `cancelled` was set.
            CounterlensError: the request failed.
        """

    def run(self) -> None:
        """Serve until the parent ends."""
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            envelope = self._queue.get()
            try:
                self._begin(envelope.number)
                answer = self._answer(envelope)
            except Cancelled:
                answer = Failed("cancelled", cancelled=True)
            except CounterlensError as error:
                answer = Failed(error.message, error.hint)
            except Exception as error:  # one failed request must not end the process
                answer = Failed(f"the model process failed: {type(error).__name__}: {error}")
            send(self._answers, Envelope(envelope.number, answer))

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

    def _begin(self, number: int) -> None:
        with self._lock:
            self._current = number
            if self.cancelled:
                self.cancelled.clear()
            if number in self._withdrawn:
                raise Cancelled
            self._withdrawn = {other for other in self._withdrawn if other > number}

    def _answer(self, envelope: Envelope) -> Any:
        def progress(done: int, total: int) -> None:
            send(self._answers, Envelope(envelope.number, Advanced(done, total)))

        return self.answer(envelope.content, progress)


def serve(kind: type[Worker]) -> None:
    """Take over the standard streams, so that a library's output cannot get among the responses."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123 - for the life of the process
    if hasattr(os, "nice"):
        os.nice(5)  # the editor comes first
    kind(requests, answers).run()
