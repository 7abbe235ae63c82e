"""Messages over a socket: a length, then JSON."""

from __future__ import annotations

import builtins
import json
import os
import select
import struct

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HEAD = struct.Struct("<Q")
_LARGEST = 32 << 20
_CHUNK = 1 << 16


class Closed(Exception):  # noqa: N818 - not an error of ours
    """The other side is gone, or sent an invalid message."""


class Channel:
    """One end of the connection.

    Args:
        descriptor: The socket.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._received = bytearray()

    def send(self, message: dict[str, Any]) -> None:
        """Send a message.

        Raises:
            Closed: the other side is gone.
            ValueError: the message is too large, or nested too deeply.
        """
        try:
            data = json.dumps(message).encode()
        except RecursionError:
            raise ValueError("a value is nested too deeply to be passed between processes") from None
        if len(data) > _LARGEST:
            raise ValueError(f"a value is too large to be passed between processes ({len(data) >> 20} MiB)")
        data = _HEAD.pack(len(data)) + data
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except OSError:
                raise Closed("the program ended the process") from None

    def receive(self) -> dict[str, Any]:
        """The next message.

        Raises:
            Closed: the other side is gone, or the message is invalid.
        """
        self._receive(_HEAD.size)
        (size,) = _HEAD.unpack_from(self._received)
        if size > _LARGEST:
            raise Closed("the program sends an invalid message")
        end = _HEAD.size + size
        self._receive(end)
        data = bytes(self._received[_HEAD.size : end])
        del self._received[:end]
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            raise Closed("the program sends an invalid message") from None
        if not isinstance(message, dict):
            raise Closed("the program sends an invalid message")
        return message

    def close(self) -> None:
        """Close this end."""
        descriptor, self._descriptor = self._descriptor, -1
        os.close(descriptor)

    def has_message(self) -> bool:
        """Whether a message, or the end, has arrived."""
        return bool(self._received) or bool(select.select([self._descriptor], [], [], 0)[0])

    def _receive(self, size: int) -> None:
        """Receive until so many bytes are there."""
        while len(self._received) < size:
            try:
                chunk = os.read(self._descriptor, max(_CHUNK, min(size - len(self._received), 1 << 20)))
            except OSError:
                chunk = b""
            if not chunk:
                raise Closed("the program ended the process")
            self._received += chunk
