"""The parent's side of the child process: starts it, sends requests, cancels, and survives its death."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from subprocess import PIPE
from threading import Event
from typing import IO, Any

from counterlens.environment import closed_environment
from counterlens.errors import Cancelled, ModelError, ModelProcessDiedError
from counterlens.models.base import Progress
from counterlens.models.local.messages import Advanced, Cancel, Envelope, Failed, receive, send
from counterlens.processes import OWN_FOLDER, python, start, start_lasting

_POLL_SECONDS = 0.02
_MOST_POLL_SECONDS = 0.2  # of a request that takes longer: many may wait at the same time
_ENDED = object()  # in place of a message: the child has ended


class ModelProcess:
    """A child process that loads one model. Thread-safe: requests of several threads may be in progress.

    Args:
        worker: The module that the child runs; its `main` is `serve` of a `Worker`.
        opening: The first request to every new child.
    """

    def __init__(self, worker: str, opening: Any) -> None:
        self._worker, self.opening = worker, opening
        self._turn = threading.Lock()
        self._child: _Child | None = None
        self._closed = False
        self._past_seconds = 0.0

    @property
    def pid(self) -> int | None:
        """The process id of the child; None if there is none."""
        child = self._child
        return child.process.pid if child and child.process.poll() is None else None

    @property
    def seconds(self) -> float:
        """Processor time of all its children, as of their last messages."""
        child = self._child
        return self._past_seconds + (child.seconds if child else 0.0)

    def start(self, progress: Progress | None = None) -> Any:
        """Start the child if it does not run, and return its response to the opening request."""
        with self._turn:
            return self._ready(progress).opened

    def ask(self, request: Any, *, cancel: Event | None = None, progress: Progress | None = None) -> Any:
        """Send one request and wait for its response.

        Raises:
            Cancelled: `cancel` was set.
            ModelProcessDiedError: the child ended.
            ModelError: the child's error.
        """
        while not self._turn.acquire(timeout=_POLL_SECONDS):  # another thread starts the child
            if cancel is not None and cancel.is_set():
                raise Cancelled
        try:
            child = self._ready()
        finally:
            self._turn.release()
        return child.ask(request, cancel, progress)

    def close(self) -> None:
        """Kill the child at once."""
        self._closed = True
        child = self._child
        if child:
            child.end()

    def _ready(self, progress: Progress | None = None) -> _Child:
        if self._closed:
            raise ModelError("this model was closed")
        if self._child is None or not self._child.alive:
            if self._child:
                self._child.end()
                self._past_seconds += self._child.seconds
                self._child = None
            child = _Child(self._worker)
            try:
                child.opened = child.ask(self.opening, None, progress)
            except BaseException:
                child.end()
                raise
            self._child = child
        return self._child


def _check(answer: Any, *, withdrawn: bool) -> Any:
    """The response, unless it is an error or the request was cancelled."""
    if isinstance(answer, Failed):
        raise Cancelled if answer.cancelled else ModelError(answer.message, answer.hint)
    if withdrawn:
        raise Cancelled
    return answer


class _Child:
    """One instance of the child process."""

    def __init__(self, worker: str) -> None:
        # Threads that spin while they wait for each other starve if the processor is shared with an editor:
        # measured with two busy neighbours, generation ran at 7 to 27 tokens per second, against 34 to 55
        # with threads that sleep.
        threads = {"OMP_WAIT_POLICY": "passive", "OPENBLAS_NUM_THREADS": "1"}
        command = python("-m", "counterlens.child", worker, str(os.getpid()))
        self.process = start_lasting(
            lambda: start(
                command,
                environment=threads | closed_environment(),
                cwd=OWN_FOLDER,  # native libraries look for parts of theirs in the current folder
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
            )
        )
        self.opened: Any = None
        self.seconds = 0.0
        self._lock = threading.Lock()  # of the numbers, of who waits, and of the standard input
        self._numbers = 0
        self._messages: dict[int, SimpleQueue[Any]] = {}
        self._ended = False
        self._last_words: deque[str] = deque(maxlen=20)
        self._start_thread(self._listen)
        self._errors = self._start_thread(self._note_errors)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    @property
    def busy(self) -> bool:
        """Whether a request is in progress."""
        return bool(self._messages)

    def ask(self, request: Any, cancel: Event | None, progress: Progress | None) -> Any:
        messages: SimpleQueue[Any] = SimpleQueue()
        with self._lock:
            self._numbers += 1
            number = self._numbers
            self._messages[number] = messages
            if self._ended:
                messages.put(_ENDED)
        try:
            self._send(Envelope(number, request))
            withdrawn, poll = False, _POLL_SECONDS
            while True:
                if not withdrawn and cancel is not None and cancel.is_set():
                    withdrawn = True
                    with contextlib.suppress(ModelProcessDiedError):
                        self._send(Cancel(number))
                try:
                    content = messages.get(timeout=poll)
                except Empty:
                    poll = min(_MOST_POLL_SECONDS, poll * 1.1)
                    continue
                if content is _ENDED:
                    raise self._died()
                if not isinstance(content, Advanced):
                    return _check(content, withdrawn=withdrawn)
                if progress:
                    progress(content.done, content.total)
        finally:
            with self._lock:
                del self._messages[number]

    def _send(self, message: Envelope | Cancel) -> None:
        try:
            with self._lock:
                send(self._pipe(self.process.stdin), message)
        except OSError:
            raise self._died() from None

    def end(self) -> None:
        self.process.kill()
        self.process.wait()

    def _died(self) -> ModelProcessDiedError:
        code = self.process.wait()
        self._errors.join(timeout=1)
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        hints = {-9: "The system may have run out of memory, or the process was stopped"}
        words = [line for line in self._last_words if line.strip()]
        reason = f": {words[-1].strip()}" if words and code > 0 else ""
        return ModelProcessDiedError(
            f"the model process {how} in the middle of a request{reason}",
            f"{hints.get(code, 'Nothing else was affected')}; the next request starts it again",
        )

    def _listen(self) -> None:
        stream = self._pipe(self.process.stdout)
        with contextlib.suppress(OSError, EOFError, ValueError):
            while (message := receive(stream)) is not None:
                if isinstance(message, Envelope):
                    self.seconds = message.seconds
                    with self._lock:
                        waiting = self._messages.get(message.number)
                    if waiting:
                        waiting.put(message.content)
        with self._lock:
            self._ended = True
            for waiting in self._messages.values():
                waiting.put(_ENDED)

    def _note_errors(self) -> None:
        for line in self._pipe(self.process.stderr):
            self._last_words.append(line.decode("utf-8", "replace"))

    @staticmethod
    def _start_thread(target: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=target, daemon=True)
        thread.start()
        return thread

    @staticmethod
    def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
        if stream is None:  # all three are pipes
            raise RuntimeError("the child has no such pipe")
        return stream
