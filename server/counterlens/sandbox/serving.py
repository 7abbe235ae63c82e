"""Persistent programs: started once in the sandbox, then sent many requests over a pair of pipes."""

from __future__ import annotations

import contextlib
import os
import select
import struct
import subprocess
import time
from collections.abc import Callable, Iterable
from threading import Event, Thread

from counterlens.errors import Cancelled

_HEAD = struct.Struct(">I")
_CHUNK = 1 << 16
_TICK = 0.025  # seconds between two checks of the cancel event
_PATIENCE = 2.0  # seconds for the launcher to clean up before it is killed


class ServiceEndedError(Exception):
    """The program ended, or violated the protocol."""


class ServiceLateError(Exception):
    """No complete answer came before the deadline."""


class Conversation:
    """The connection to a persistent program. Not thread-safe.

    Args:
        launcher: The process that started it, with its descendants.
        given: File descriptor for its requests.
        replies: File descriptor of its answers.
        others: File descriptors of its other outputs, which are read and dropped.
        stop: Ends the program when the conversation is closed.
        done: Called at the end.
    """

    def __init__(
        self,
        launcher: subprocess.Popen[bytes],
        *,
        given: int,
        replies: int,
        others: Iterable[int],
        stop: Callable[[], None],
        done: Callable[[], None],
    ) -> None:
        self._launcher, self._given, self._replies = launcher, given, replies
        self._others = set(others)
        self._stop, self._done = stop, done
        self._buffer, self._open = bytearray(), True
        for end in (given, replies, *self._others):
            os.set_blocking(end, False)

    @property
    def alive(self) -> bool:
        """Whether it can take requests."""
        return self._open and self._launcher.poll() is None

    def ask(self, frame: bytes, deadline: float, *, room: int, cancel: Event | None = None) -> bytes:
        """Send one request and wait for one answer.

        Args:
            deadline: Time limit, on the clock of `time.monotonic`.
            room: Maximum bytes of the answer.

        Raises:
            ServiceEndedError: the program ended, or its answer is too long; it takes no further request.
            ServiceLateError: the deadline passed; the conversation should be closed.
            Cancelled: `cancel` was set; the conversation should be closed.
        """
        rest = memoryview(_HEAD.pack(len(frame)) + frame)
        while True:
            if not rest and (answer := self._answer(room)) is not None:
                return answer
            left = deadline - time.monotonic()
            if cancel is not None and cancel.is_set():
                raise Cancelled
            if left <= 0:
                raise ServiceLateError
            wait = left if cancel is None else min(left, _TICK)
            for end in self._ready(wait, writing=bool(rest)):
                if end == self._given:
                    rest = self._write(rest)
                else:
                    self._read(end, room)

    def _ready(self, seconds: float, *, writing: bool) -> list[int]:
        """The file descriptors that are ready for reading or writing."""
        poll = select.poll()
        for end in (self._replies, *self._others):
            poll.register(end, select.POLLIN)
        if writing:
            poll.register(self._given, select.POLLOUT)
        return [end for end, _ in poll.poll(seconds * 1000)]

    def close(self, *, wait: bool = True) -> None:
        """End the program, even during a request.

        Args:
            wait: Whether to return only when it has ended; else a thread waits for that.
        """
        if not self._open:
            return
        self._open = False
        self._stop()
        with contextlib.suppress(OSError):
            os.close(self._given)
        if wait:
            self._clear()
        else:
            Thread(target=self._clear, name="cleaning up after a program").start()

    def _clear(self) -> None:
        """Wait until it has ended, and release its resources."""
        try:
            self._launcher.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._launcher.kill()
            self._launcher.wait()
        for end in (self._replies, *self._others):
            with contextlib.suppress(OSError):
                os.close(end)
        self._done()

    def _answer(self, room: int) -> bytes | None:
        if len(self._buffer) < _HEAD.size:
            return None
        (size,) = _HEAD.unpack_from(self._buffer)
        if size > room:
            raise ServiceEndedError("its answer is too long")
        if len(self._buffer) < _HEAD.size + size:
            return None
        answer = bytes(self._buffer[_HEAD.size : _HEAD.size + size])
        del self._buffer[: _HEAD.size + size]
        return answer

    def _write(self, rest: memoryview) -> memoryview:
        try:
            return rest[os.write(self._given, rest[:_CHUNK]) :]
        except BlockingIOError:
            return rest
        except OSError as error:
            raise ServiceEndedError(str(error)) from None

    def _read(self, end: int, room: int) -> None:
        try:
            chunk = os.read(end, _CHUNK)
        except BlockingIOError:
            return
        if end == self._replies:
            if not chunk:
                raise ServiceEndedError("it ended")
            if len(self._buffer) > room + 2 * _CHUNK:
                raise ServiceEndedError("it sends more than was requested")
            self._buffer += chunk
        elif not chunk:
            os.close(end)
            self._others.remove(end)
