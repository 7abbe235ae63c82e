"""An answer of an endpoint while it is being read: the objects of a stream, or one object."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Final

import httpx

from counterlens.models.remote import failures, sse
from counterlens.models.remote.endpoint import Endpoint

Json = dict[str, Any]

_LARGEST: Final = 16 * 2**20  # bytes of one answer


class Answer:
    """The JSON objects of an answer, in order; closing it early is fine.

    Attributes:
        streamed: Whether it is a stream of server-sent events; otherwise there is one object.
        done: Whether its proper end was seen.
    """

    def __init__(self, response: httpx.Response, endpoint: Endpoint) -> None:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        self.streamed: bool = kind == "text/event-stream"
        self.done = False
        self._endpoint = endpoint
        self._objects = self._stream(response) if self.streamed else self._single(response)

    def __aiter__(self) -> AsyncIterator[Json]:
        return self._objects

    async def aclose(self) -> None:
        """Stop reading."""
        await self._objects.aclose()

    async def _single(self, response: httpx.Response) -> AsyncGenerator[Json, None]:
        content = self._object(await body(response, self._endpoint))
        self.done = True
        yield content

    async def _stream(self, response: httpx.Response) -> AsyncGenerator[Json, None]:
        begun = False
        async with (
            contextlib.aclosing(_portions(response, self._endpoint)) as portions,
            contextlib.aclosing(sse.events(portions)) as events,
        ):
            try:
                async for event in events:
                    data = event.data.strip()
                    if data == "[DONE]":
                        self.done = True
                        return
                    if data:
                        begun = True
                        yield self._object(data, failed=event.type == "error")
            except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
                if not begun:
                    raise failures.empty_stream(self._endpoint) from error
                raise
        if not begun:
            raise failures.empty_stream(self._endpoint)

    def _object(self, text: str, *, failed: bool = False) -> Json:
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise failures.of_answer("with something that is not JSON", self._endpoint, text) from error
        if not isinstance(content, dict):
            raise failures.of_answer("with JSON that is no object", self._endpoint, text)
        if failed or content.get("error"):
            raise failures.of_error_object(content.get("error") or content, self._endpoint)
        return content


async def body(response: httpx.Response, endpoint: Endpoint) -> str:
    """The whole body of a response.

    Raises:
        ModelError: it is far larger than any answer.
    """
    portions = [portion async for portion in _portions(response, endpoint)]
    return b"".join(portions).decode("utf-8", "replace")


async def _portions(response: httpx.Response, endpoint: Endpoint) -> AsyncGenerator[bytes, None]:
    size = 0
    async for portion in response.aiter_bytes():
        size += len(portion)
        if size > _LARGEST:
            raise failures.of_answer("with far more than was asked for", endpoint)
        yield portion
