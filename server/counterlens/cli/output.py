"""The standard streams of a command: any text can be written, and failures have words."""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import sys
from typing import TYPE_CHECKING, BinaryIO, TextIO

from counterlens.errors import CounterlensError

if TYPE_CHECKING:
    from typing_extensions import Buffer

_ESCAPE = "counterlens.escape"


class OutputError(CounterlensError):
    """Standard output cannot be written."""


class StandardStream(io.RawIOBase):
    """The bytes of standard output or standard error.

    Args:
        raw: The stream of the system.
        is_needed: Whether the first failure is raised; what cannot be written is dropped otherwise.

    Attributes:
        failure: Why writing failed; None if it did not.
    """

    def __init__(self, raw: BinaryIO, *, is_needed: bool) -> None:
        self._raw, self._is_needed = raw, is_needed
        self.failure: OSError | None = None

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._raw.fileno()

    def isatty(self) -> bool:
        return self._raw.isatty()

    def write(self, data: Buffer, /) -> int:
        if self.failure is None:
            try:
                return self._raw.write(data) or 0
            except OSError as error:
                self.failure = error
                if self._is_needed:
                    raise
        return memoryview(data).nbytes

    def require(self) -> None:
        """Continue only if everything was written; silently if the reader has left early, as `head` does.

        Raises:
            OutputError: it was not.
        """
        if self.failure is not None and self.failure.errno != errno.EPIPE:
            raise OutputError(f"standard output cannot be written: {self.failure.strerror}")


def take_streams() -> StandardStream:
    """Take over the standard streams: what their encodings lack is written as an escape sequence, as in JSON.

    Returns:
        Standard output.

    Raises:
        OutputError: it is closed.
    """
    codecs.register_error(_ESCAPE, _escape_rest)
    closed = sys.stdout is None
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # else the next file that is opened would get its number
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123
    sys.stderr, _ = _take_stream(sys.stderr, is_needed=False)
    sys.stdout, output = _take_stream(sys.stdout, is_needed=True)
    if closed:
        raise OutputError("standard output is closed", f"Redirect it to a file, or to {os.devnull}")
    return output


def _take_stream(stream: TextIO, *, is_needed: bool) -> tuple[TextIO, StandardStream]:
    """A stream that can be written any text, and its bytes."""
    buffer = getattr(stream, "buffer", None)
    if buffer is None:  # another program has put a text in its place, which has no encoding and no end
        return stream, StandardStream(io.BytesIO(), is_needed=is_needed)
    # There is no buffer with PYTHONUNBUFFERED.
    raw = StandardStream(getattr(buffer, "raw", buffer), is_needed=is_needed)
    line_buffering = raw.isatty() or stream is sys.stderr
    written = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=stream.encoding, errors=_ESCAPE, line_buffering=line_buffering
    )
    return written, raw


def _escape_rest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
