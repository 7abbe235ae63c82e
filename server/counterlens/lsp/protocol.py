"""Corrections of pygls: of malformed requests, of cancelled commands, of edits, and of stopping."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method

from counterlens.text import printable

LOG = logging.getLogger("counterlens.lsp")
_SHOWN = 400


def _shown(value: object) -> str:
    """Shorten a client's message for the log."""
    return printable(str(value), keep="")[:_SHOWN]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A message that is not valid for its method.

    Attributes:
        id: Id of the request that expects a response; None if there is none.
        method: Method of the message.
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
            known = asked if isinstance(asked, int | str) else None
            return Unreadable(known, str(data.get("method", "")), error)

    def handle_message(self, message: Any) -> None:
        """Handle a message; log an invalid one."""
        if isinstance(message, Unreadable):
            LOG.warning("malformed %s: %s", _shown(message.method or "message"), _shown(message.error))
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
