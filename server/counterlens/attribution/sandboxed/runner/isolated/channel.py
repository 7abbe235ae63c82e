"""Messages over a socket: a length, then JSON."""

from __future__ import annotations

import builtins
import json
import os
import struct

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HEAD = struct.Struct("<Q")
_LARGEST = 32 << 20


class Closed(Exception):  # noqa: N818 - not an error of ours
    """The other side is gone, or sent an invalid message."""


class Channel:
    """One end of the connection.

    Args:
        descriptor: The socket.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

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
        (size,) = _HEAD.unpack(self._read(_HEAD.size))
        if size > _LARGEST:
            raise Closed("the program sends an invalid message")
        try:
            message = json.loads(self._read(size))
        except (ValueError, RecursionError):
            raise Closed("the program sends an invalid message") from None
        if not isinstance(message, dict):
            raise Closed("the program sends an invalid message")
        return message

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            try:
                chunk = os.read(self._descriptor, min(size - len(data), 1 << 20))
            except OSError:
                chunk = b""
            if not chunk:
                raise Closed("the program ended the process")
            data += chunk
        return bytes(data)
