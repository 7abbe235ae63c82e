"""Completions from an endpoint: requests in the parameters that it takes, read until the stop rule holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from counterlens.errors import ModelError
from counterlens.models.base import Completion, Prompt
from counterlens.models.chat.replies import still_thinks
from counterlens.models.healing import Contradiction
from counterlens.models.remote import failures
from counterlens.models.remote.answer import Answer, Json
from counterlens.models.remote.client import HttpClient, Read
from counterlens.models.remote.dialect import Dialect, Exchange
from counterlens.models.remote.endpoint import Endpoint
from counterlens.models.remote.failures import (
    EmptyStreamError,
    RefusedRequestError,
    UnknownModelError,
    UnsupportedParameterError,
)
from counterlens.models.remote.forms import Forms
from counterlens.models.remote.listing import Listing, unknown
from counterlens.models.stopping import cut

_LENGTH: Final = frozenset({"length", "max_tokens"})


class RemoteCompleter:
    """Completes prompts, and remembers which parameters an endpoint refuses.

    Args:
        endpoint: The endpoint.
        client: Asks it.
        model: The name of the model there.
        dialect: How it is asked.
        listing: The models that it has.
        parameters: Further parameters of each request.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        client: HttpClient,
        model: str,
        dialect: Dialect,
        listing: Listing,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self._endpoint, self._client, self._model = endpoint, client, model
        self._dialect, self._listing, self._parameters = dialect, listing, dict(parameters or {})
        self._limit = "max_tokens"
        self._forms = Forms()

    async def complete(self, prompt: Prompt) -> Completion:
        """Complete a prompt.

        Raises:
            ModelError: there is no answer, or not one that can be read.
        """
        if prompt.max_tokens < 1:
            return Completion("", "length", 0)
        try:
            try:
                return await self._ask(prompt, self._dialect.exchange(prompt))
            except Contradiction:
                return await self._ask(prompt, self._dialect.exchange(prompt, heal=False))
        except UnknownModelError as error:
            raise unknown(error.message, await self._listing.names_or_none()) from error.__cause__

    async def _ask(self, prompt: Prompt, exchange: Exchange) -> Completion:
        async def read(answer: Answer) -> Completion:
            return await self._read(prompt, exchange, answer)

        payload: Json = {"model": self._model, **exchange.payload, **self._parameters}
        refusal: RefusedRequestError | None = None
        for way, body in self._forms.ways(payload):
            try:
                answer = await self._send(body, read)
            except RefusedRequestError as error:
                refusal = refusal or error
            else:
                self._forms.took(way)
                return answer
        assert refusal is not None  # there is at least one way
        raise refusal

    async def _send(self, body: Json, read: Read[Completion]) -> Completion:
        payload = dict(body)
        tokens = payload.pop("max_tokens")
        for _ in range(2):  # an endpoint may mind either of two things
            limit = self._limit
            try:
                return await self._client.post(self._dialect.path, {**payload, limit: tokens}, read)
            except UnsupportedParameterError as error:
                if error.parameter != "max_tokens" or limit != "max_tokens":
                    raise
                self._limit = "max_completion_tokens"  # what newer chat models call it
            except EmptyStreamError:
                payload["stream"] = False
        return await self._client.post(self._dialect.path, {**payload, self._limit: tokens}, read)

    async def _read(self, prompt: Prompt, exchange: Exchange, answer: Answer) -> Completion:
        """Read an answer until the stop rule holds; leaving it early closes the connection."""
        at_line_start = prompt.text[-1:] in ("", "\n", "\r")
        written, finish, pieces, counted = "", None, 0, None
        async for chunk in answer:
            try:
                piece = self._dialect.piece(chunk)
            except (LookupError, TypeError) as error:
                raise failures.of_answer("without a completion", self._endpoint, json.dumps(chunk)) from error
            finish, counted = piece.finish or finish, _counted(chunk) or counted
            if not piece.text:
                continue
            written += piece.text
            pieces += 1
            text = exchange.text(written, complete=False)
            if text is not None and (end := cut(text, prompt.stop, at_line_start=at_line_start)) is not None:
                return Completion(_joined(end), "stop", counted or pieces)
            if exchange.ended(written):
                finish = "stop"
                break
        if finish is None and not answer.done:
            raise failures.broken_off(self._endpoint)
        if finish == "content_filter":
            raise ModelError(
                f"the content filter of {self._endpoint.host} withheld the answer", "Try another model"
            )
        text = exchange.text(written, complete=True) or ""
        end = cut(text, prompt.stop, at_line_start=at_line_start)
        if end is not None:
            return Completion(_joined(end), "stop", counted or pieces)
        # A reply that still reasons has given no answer, whatever the server says of its end.
        unended = finish in _LENGTH or still_thinks(written)
        return Completion(_joined(text), "length" if unended else "stop", counted or pieces)


def _joined(text: str) -> str:
    """The text with surrogate pairs that a server sent in two pieces made whole again."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _counted(chunk: Json) -> int | None:
    usage = chunk.get("usage")
    count = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return count if isinstance(count, int) else None
