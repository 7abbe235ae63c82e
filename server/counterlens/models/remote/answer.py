"""A response of an endpoint while it is being read: the objects of a stream, or one object."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Final

import httpx

from counterlens.models.remote import failures, sse
from counterlens.models.remote.endpoint import Endpoint
from counterlens.models.remote.expanding import portions

Json = dict[str, Any]

_DEEPEST: Final = 64
_BRACKETS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]', re.DOTALL)


class Answer:
    """The JSON objects of a response, in order; it may be closed early.

    Attributes:
        streamed: Whether it is a stream of server-sent events; otherwise there is one object.
        done: Whether its regular end was read.
        usage: The endpoint's own counts, as far as read; None if it gives none.
        pieces: Number of objects with a choice: each holds at least about a token.
        thought: Number of tokens of reasoning that its reader has found.
    """

    def __init__(self, response: httpx.Response, endpoint: Endpoint) -> None:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        self.streamed: bool = kind == "text/event-stream"
        self.done = False
        self.usage: Json | None = None
        self.pieces = self.thought = 0
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
            contextlib.aclosing(portions(response, self._endpoint)) as pieces,
            contextlib.aclosing(sse.events(pieces)) as events,
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
        if _too_deep(text):
            raise failures.of_answer("with JSON that is nested too deeply", self._endpoint)
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise failures.of_answer("with text that is not JSON", self._endpoint, text) from error
        if not isinstance(content, dict):
            raise failures.of_answer("with JSON that is not an object", self._endpoint, text)
        if failed or content.get("error"):
            raise failures.of_error_object(content.get("error") or content, self._endpoint)
        self.pieces += bool(content.get("choices"))
        if isinstance(usage := content.get("usage"), dict):
            self.usage = usage
        return content


async def body(response: httpx.Response, endpoint: Endpoint) -> str:
    """The whole body of a response.

    Raises:
        ModelError: it is far larger than any valid response.
    """
    return b"".join([piece async for piece in portions(response, endpoint)]).decode("utf-8", "replace")


def _too_deep(text: str) -> bool:
    """Whether brackets are nested more deeply than in any valid response; checked before parsing."""
    if text.count("[") + text.count("{") <= _DEEPEST:
        return False
    depth = 0
    for found in _BRACKETS.finditer(text):
        one = found[0]
        depth += 1 if one in "[{" else -1 if one in "]}" else 0
        if depth > _DEEPEST:
            return True
    return False
