"""Models that the editor offers: the server asks the client, which asks the editor. Completions, no scores.

The setting `model` is `editor:ID`. The request `counterlens/complete` goes from server to client.
"""

from __future__ import annotations

import asyncio
import uuid
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Event
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from counterlens.errors import Cancelled, ModelError
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.targets import plain
from counterlens.models import Model, load
from counterlens.models.callback import CallbackModel, ChatRequest
from counterlens.models.registry import Options

COMPLETE = "counterlens/complete"
PREFIX = "editor:"
_LOOK_EVERY = 0.05
"""Seconds between two checks whether the request was cancelled."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `role` is `system` or `user`."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class CompleteParams:
    """A request to the client: the model, the messages, and the token limit."""

    model: str
    messages: tuple[Message, ...]
    maxTokens: int  # noqa: N815 - as on the wire


def register(server: CounterlensServer) -> None:
    server.host.open = EditorModels(server).open


class EditorModels:
    """Opens the editor's models besides all others.

    Args:
        server: The server whose client is asked.
    """

    def __init__(self, server: CounterlensServer) -> None:
        self._server = server

    def open(self, spec: str, options: Options) -> Model:
        """Open a model by name.

        Raises:
            ModelError: as `load`.
        """
        if not spec.startswith(PREFIX):
            return load(spec, options)
        name = spec.removeprefix(PREFIX)

        def ask(question: ChatRequest, cancel: Event) -> str:
            return self._ask(name, question, cancel)

        return CallbackModel(spec, name, "the editor", ask)

    def _ask(self, name: str, question: ChatRequest, cancel: Event) -> str:
        """Send a request from a thread other than the event loop's.

        Raises:
            ModelError: the client cannot ask, or the user refuses, or the model gave no answer.
            Cancelled: `cancel` was set.
        """
        loop = self._server.loop
        if loop is None:
            raise ModelError("the editor's models cannot be used before the editor is ready", "Try again")
        request, answer = str(uuid.uuid4()), Future[Any]()
        messages = tuple(Message(role, text) for role, text in question.messages)
        params = CompleteParams(name, messages, question.max_tokens)
        asyncio.run_coroutine_threadsafe(self._send(params, request, answer), loop)
        while not answer.done():
            if cancel.wait(_LOOK_EVERY):
                notify = self._server.protocol.notify
                loop.call_soon_threadsafe(notify, types.CANCEL_REQUEST, types.CancelParams(request))
                raise Cancelled
        reply = plain(answer.result())
        if reply.get("error"):
            raise ModelError(str(reply["error"]))
        if not isinstance(reply.get("text"), str):
            raise ModelError(f"the editor returned no answer from {name}", "Choose another model")
        return str(reply["text"])

    async def _send(self, params: CompleteParams, request: str, answer: Future[Any]) -> None:
        """Put the client's reply, or its error, into `answer`."""
        try:
            reply = await self._server.protocol.send_request_async(COMPLETE, params, msg_id=request)
        except JsonRpcException as error:
            reply = {"error": f"the editor cannot ask {params.model}: {error.message}"}
        if not answer.done():
            answer.set_result(reply)
