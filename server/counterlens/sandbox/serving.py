"""Programs that stay: started once in the sandbox, asked many times over a pair of pipes."""

from __future__ import annotations

import contextlib
import os
import select
import struct
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Protocol, runtime_checkable

from counterlens.errors import Cancelled, SandboxError
from counterlens.sandbox.base import Limits, Sandbox

_HEAD = struct.Struct(">I")
_CHUNK = 1 << 16
_TICK = 0.025  # seconds between two looks at the cancel event
_PATIENCE = 2.0  # seconds that the launcher has for cleaning up before it is killed itself
_LAST_WORDS = 2000  # bytes kept of standard error


@dataclass(frozen=True, slots=True)
class ServedProgram:
    """A program that stays, and answers requests.

    It reads frames from standard input and writes frames to standard output: four bytes with the length,
    the most significant first, and so many bytes.

    Attributes:
        command: The program, with an absolute path, and its arguments.
        readable: What it may read beside the system's files and its private folder.
        environment: Added to the sandbox's own.
        limits: Its limits. `seconds` and `output_bytes` are not used: a request says how long it may take
            and how long its answer may be.
    """

    command: tuple[str, ...]
    readable: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)


class ServiceEndedError(Exception):
    """The program ended, or broke the rules of the line."""


class ServiceLateError(Exception):
    """There was no whole answer in time."""


class Conversation:
    """The line to a program that stays. Not thread-safe.

    Args:
        launcher: The process that started it, with all that it started.
        given: Where its requests are written.
        replies: Where its answers come from.
        others: What else it writes; kept in part, or dropped.
        stop: Ends the program, when it is closed.
        done: Called at the end.
    """

    def __init__(
        self,
        launcher: subprocess.Popen[bytes],
        *,
        given: int,
        replies: int,
        others: Mapping[int, str],
        stop: Callable[[], None],
        done: Callable[[], None],
    ) -> None:
        self._launcher, self._given, self._replies = launcher, given, replies
        self._others = dict(others)
        self._stop, self._done = stop, done
        self._buffer, self._said = bytearray(), {name: bytearray() for name in others.values()}
        self._open = True
        for end in (given, replies, *others):
            os.set_blocking(end, False)

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._open and self._launcher.poll() is None

    def said(self, name: str) -> str:
        """The kept part of what it wrote beside its answers."""
        return self._said[name].decode("utf-8", "replace")

    def ask(self, frame: bytes, deadline: float, *, room: int, cancel: Event | None = None) -> bytes:
        """Send one request and wait for one answer.

        Args:
            frame: The request.
            deadline: When to give up, on the clock of `time.monotonic`.
            room: The most bytes that an answer may have.
            cancel: Set it to give up.

        Raises:
            ServiceEndedError: it ended, or its answer is longer; it cannot be asked again.
            ServiceLateError: it was not in time; it should be closed.
            Cancelled: `cancel` was set; it should be closed.
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
        """The ends of pipes that something can be done with."""
        poll = select.poll()
        for end in (self._replies, *self._others):
            poll.register(end, select.POLLIN)
        if writing:
            poll.register(self._given, select.POLLOUT)
        return [end for end, _ in poll.poll(seconds * 1000)]

    def close(self, *, wait: bool = True) -> None:
        """End the program, whatever it is doing.

        Args:
            wait: Whether to return only when it is gone; else a thread waits for that.
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
            Thread(target=self._clear, name="clearing up after a program").start()

    def _clear(self) -> None:
        """Wait until it is gone, and give back what it had."""
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
            del self._others[end]
        else:
            kept = self._said[self._others[end]]
            kept += chunk[: _LAST_WORDS - len(kept)]


@runtime_checkable
class ServingSandbox(Sandbox, Protocol):
    """A sandbox in which programs can stay."""

    def serve(self, service: ServedProgram) -> Conversation:
        """Start a program that stays.

        Raises:
            SandboxError: the sandbox itself could not be set up.
        """
        ...


def serving(sandbox: Sandbox) -> ServingSandbox:
    """The same sandbox, if programs can stay in it.

    Raises:
        SandboxError: they cannot.
    """
    if isinstance(sandbox, ServingSandbox):
        return sandbox
    raise SandboxError(
        f"the sandbox {sandbox.name} cannot keep a program waiting yet", "On Windows, use WSL 2"
    )
