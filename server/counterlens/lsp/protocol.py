"""Corrections of pygls: malformed requests are answered, cancelling reaches commands, edits come as sent."""

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


def _shown(said: object) -> str:
    """Shorten a client's message for the log."""
    return printable(str(said), keep="")[:_SHOWN]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A message that is not what its method asks for.

    Attributes:
        id: Of the request that waits for an answer; None where nobody does.
        method: What it called itself.
        error: What is wrong with it.
    """

    id: int | str | None
    method: str
    error: JsonRpcException


class PatientProtocol(LanguageServerProtocol):
    """pygls drops a request with malformed parameters unanswered; here it gets an error.

    A client that cancels a command cancels what the command runs, which pygls lets go on.

    It also applies edits to a text of its own, counting form feeds and the like as line ends, and changes
    their ranges while doing so; `documents.py` applies them as the protocol says.
    """

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message from plain data, or what is wrong with it."""
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
        """Run a handler; one that another handler waits for is cancelled with that one."""
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        outer = callback.keywords.get("result_future") if isinstance(callback, partial) else None
        inner = self._request_futures.pop(msg_id, None) if outer is not None else None
        if outer is not None and inner is not None:
            outer.add_done_callback(lambda ended: inner.cancel() if ended.cancelled() else None)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: types.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Hand an edit on, as it came."""
        handler = self.fm.features.get(types.TEXT_DOCUMENT_DID_CHANGE)
        if handler is not None:
            yield handler, (params,), None
