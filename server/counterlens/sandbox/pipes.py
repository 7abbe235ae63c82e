"""Reading several pipes of a child at once, keeping a bounded part of each and dropping the rest."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Mapping
from threading import Event

_CHUNK = 1 << 16
_TICK = 0.025  # seconds between two checks of the cancel event


class Pipes:
    """The reading ends of a child's pipes, and one writing end with its data.

    Args:
        read: Name to (file descriptor, maximum bytes to keep).
        write: A file descriptor and the data for it.
    """

    def __init__(self, read: Mapping[str, tuple[int, int]], write: tuple[int, bytes]) -> None:
        self._kept = {name: bytearray() for name in read}
        self._room = {name: room for name, (_, room) in read.items()}
        self._open = {descriptor: name for name, (descriptor, _) in read.items()}
        self._target, self._rest = write[0], memoryview(write[1])
        self.truncated = False
        for descriptor in (*self._open, self._target):
            os.set_blocking(descriptor, False)

    def data(self, name: str) -> bytes:
        """The kept output of one pipe."""
        return bytes(self._kept[name])

    def stop_writing(self) -> None:
        """Drop the data that is not written yet."""
        self._rest = self._rest[:0]

    def drain(self, deadline: float, cancel: Event | None) -> bool:
        """Read until all pipes are closed.

        Args:
            deadline: When to stop, on the clock of `time.monotonic`.
            cancel: Set to stop.

        Returns:
            Whether all were closed before the deadline and without cancelling.
        """
        with selectors.DefaultSelector() as selector:
            for descriptor in self._open:
                selector.register(descriptor, selectors.EVENT_READ)
            if self._rest:
                selector.register(self._target, selectors.EVENT_WRITE)
            while self._open:
                left = deadline - time.monotonic()
                if left <= 0 or (cancel is not None and cancel.is_set()):
                    return False
                for key, _ in selector.select(left if cancel is None else min(left, _TICK)):
                    done = self._write() if key.fd == self._target else self._read(key.fd)
                    if done:
                        selector.unregister(key.fd)
        return True

    def _read(self, descriptor: int) -> bool:
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return False
        name = self._open[descriptor]
        if not chunk:
            del self._open[descriptor]
            return True
        kept = self._kept[name]
        room = self._room[name] - len(kept)
        kept += chunk[:room]
        self.truncated = self.truncated or len(chunk) > room
        return False

    def _write(self) -> bool:
        try:
            self._rest = self._rest[os.write(self._target, self._rest[:_CHUNK]) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            self.stop_writing()
        return not self._rest
