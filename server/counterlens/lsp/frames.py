"""Reads messages from a pipe, and resynchronises after a broken frame."""

from __future__ import annotations

import io
import logging
import re
from typing import BinaryIO, cast

LOG = logging.getLogger("counterlens.lsp")
LARGEST = 64 << 20
"""Maximum size of one message, in bytes."""
_PIECE = 1 << 16
_OVERLAP = 4096  # no header is longer
_HEADER = re.compile(
    rb"Content-Length: *(\d{1,12}) *\r?\n(?:[A-Za-z-]{1,64}:[^\r\n]{0,512}\r?\n){0,4}\r?\n", re.IGNORECASE
)


class FrameReader:
    """Reads headers and bodies, as pygls asks for them.

    A wrong length would put all following messages out of step: no line end precedes the next header. So a
    header is recognised anywhere. JSON cannot contain one, because a line end in a string is escaped; a
    header inside a body therefore shows that the body ended early.

    Args:
        stream: The stream that a client writes to.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = cast("io.BufferedReader", stream)
        self._held = bytearray()
        self._between = False

    def readline(self) -> bytes:
        """The header of the next message, then an empty line; empty at the end of the stream."""
        if self._between:
            self._between = False
            return b"\r\n"
        while True:
            header = _HEADER.search(self._held)
            if header is None:
                if not self._more():
                    return b""
                del self._held[: -_OVERLAP - _PIECE]
                continue
            if self._held[: header.start()].strip():
                LOG.warning("%d bytes before a message belong to no message", header.start())
            size = int(header[1])
            del self._held[: header.end()]
            if size <= LARGEST:
                self._between = True
                return b"Content-Length: %d\r\n" % size
            LOG.warning("a message of %d bytes is too large", size)

    def read(self, size: int) -> bytes:
        """The body of a message; truncated if the next message begins earlier."""
        looked_at, end = 0, size
        while True:
            header = _HEADER.search(self._held, looked_at)
            if header is not None and header.start() < end:
                LOG.warning("a message of %d bytes was truncated after %d bytes", size, header.start())
                end = header.start()
            if len(self._held) >= end:
                break
            looked_at = max(0, len(self._held) - _OVERLAP)
            if not self._more():
                break
        body = bytes(self._held[:end])
        del self._held[:end]
        return body or b" "  # pygls takes an empty body for the end of the stream

    def _more(self) -> bool:
        piece = self._stream.read1(_PIECE)
        self._held += piece
        return bool(piece)
