"""The messages of the protocol: read from a pipe, resynchronised after a broken frame; requests and edits."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method

from counterlens.text import printable

LOG = logging.getLogger("counterlens.lsp")
LARGEST = 64 << 20
"""Maximum size of one message, in bytes."""
_PIECE = 1 << 16
_SHOWN = 400  # characters of an invalid message in the log
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


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A message that is not valid for its method.

    Attributes:
        id: Id of the request that expects a response; None if there is none.
        error: What is invalid.
    """

    id: int | str | None
    method: str
    error: JsonRpcException


class PatientProtocol(LanguageServerProtocol):
    """pygls drops a request with malformed parameters without a response; here it gets an error.

    Cancelling a command also cancels the work that the command started, which pygls lets run on.

    pygls also applies edits to its own text, with form feeds and the like as line ends, and changes their
    ranges in doing so; `documents.py` applies edits as the protocol defines.
    """

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return a message from plain data, or its error."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            asked = data.get("id") if "method" in data else None
            identifier = asked if isinstance(asked, int | str) else None
            return Unreadable(identifier, str(data.get("method", "")), error)

    def handle_message(self, message: Any) -> None:
        """Handle a message; log an invalid one."""
        if isinstance(message, Unreadable):
            LOG.warning("malformed %s: %s", _shorten(message.method or "message"), _shorten(message.error))
            if message.id is not None:
                error = types.ResponseError(message.error.code, f"{message.error}: {message.method}")
                self._send_response(message.id, error=error)
        elif not hasattr(message, "jsonrpc"):
            LOG.warning("not a message: %.80r", message)
        else:
            super().handle_message(message)

    def _execute_handler(
        self,
        msg_id: int | str,
        handler: Callable[..., Any],
        callback: Callable[..., Any],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """Run a handler; cancelling it also cancels the handler that it waits for."""
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        outer = callback.keywords.get("result_future") if isinstance(callback, partial) else None
        inner = self._request_futures.pop(msg_id, None) if outer is not None else None
        if outer is not None and inner is not None:
            outer.add_done_callback(lambda ended: inner.cancel() if ended.cancelled() else None)

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """Cancel all other requests; pygls fails if one of them is removed meanwhile."""
        handler = self.fm.features.get(types.SHUTDOWN)
        if handler is not None:
            yield handler, args, None
        own = self.msg_id
        for msg_id, future in list(self._request_futures.items()):
            if msg_id != own:
                future.cancel()
        self._shutdown = True

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: types.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Pass an edit on unchanged."""
        handler = self.fm.features.get(types.TEXT_DOCUMENT_DID_CHANGE)
        if handler is not None:
            yield handler, (params,), None


def _shorten(value: object) -> str:
    """Shorten a client's message for the log."""
    return printable(str(value), keep="")[:_SHOWN]
