"""A response of an endpoint while it is being read: the objects of a stream, or one object."""

from __future__ import annotations

import contextlib
import json
import re
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any, Final

import httpx

from counterlens.errors import ModelError
from counterlens.models.remote import failures, sse
from counterlens.models.remote.endpoint import Endpoint
from counterlens.nested_text import TooDeepError, check_depth, parse_json

LARGEST: Final = 16 * 2**20  # maximum size of one response, decompressed, in bytes
_PIECE: Final = 2**16
_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS
_PLAIN: Final = ("", "identity")
_PACKED: Final = ("gzip", "x-gzip", "deflate")

Json = dict[str, Any]

_DEEPEST: Final = 64
_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"\s*")


class Answer:
    """The JSON objects of a response, in order; it may be closed early.

    Keep-alives are skipped, however a server sends them. What else is not an object is set aside.

    Attributes:
        streamed: Whether it is a stream; otherwise there is one object. Known from the first object on.
        done: Whether its regular end was read.
        complete: Set by its reader if only the end is missing: then a broken connection does no harm.
        aside: The first text that is not an object; empty if there is none.
        usage: The endpoint's own counts, as far as read; None if it gives none.
        pieces: Number of objects with a choice: each holds at least about a token.
        thought: Number of tokens of reasoning that its reader has found.
    """

    def __init__(self, response: httpx.Response, endpoint: Endpoint) -> None:
        self.streamed = self.done = self.complete = False
        self.aside = ""
        self.usage: Json | None = None
        self.pieces = self.thought = 0
        self._endpoint = endpoint
        self._kind: str = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        self._objects = self._read(response)

    def __aiter__(self) -> AsyncIterator[Json]:
        return self._objects

    async def aclose(self) -> None:
        """Stop reading."""
        await self._objects.aclose()

    async def _read(self, response: httpx.Response) -> AsyncGenerator[Json, None]:
        begun = False
        lines = "ndjson" in self._kind or "jsonl" in self._kind
        async with (
            contextlib.aclosing(portions(response, self._endpoint)) as pieces,
            contextlib.aclosing(sse.events(pieces)) as events,
        ):
            try:
                async for event in events:
                    if event.data.strip() == sse.DONE:
                        self.done = self.streamed = True
                        return
                    for content in self._contents(event):
                        chunk = "chunk" in str(content.get("object"))
                        self.streamed = event.framed or begun or lines or chunk
                        begun = True
                        yield content
            except UnicodeDecodeError as error:
                raise failures.of_answer("with text that is not UTF-8", self._endpoint) from error
            except httpx.TransportError as error:
                if self.complete:
                    return
                broken = isinstance(error, (httpx.NetworkError, httpx.RemoteProtocolError))
                if broken and not begun and self._labelled:
                    raise failures.empty_stream(self._endpoint) from error
                raise
        if not begun:
            raise self._nothing()
        self.done = not self.streamed

    @property
    def _labelled(self) -> bool:
        """Whether the endpoint calls it a stream of events."""
        return self._kind == "text/event-stream"

    def _nothing(self) -> ModelError:
        """The error about a response without an object."""
        if self.aside:
            return failures.of_answer(_why_not_an_object(self.aside), self._endpoint, self.aside)
        if self._labelled:
            return failures.empty_stream(self._endpoint)
        return failures.of_answer("with nothing", self._endpoint)

    def _contents(self, event: sse.Event) -> Iterator[Json]:
        """The objects in the data of an event."""
        text = event.data.strip()
        at = 0
        while at < len(text):
            try:
                content, at = _DECODER.raw_decode(text, at)
                check_depth(content, _DEEPEST)
            except (TooDeepError, RecursionError) as error:
                raise failures.of_answer("with JSON that is nested too deeply", self._endpoint) from error
            except ValueError as error:
                if event.framed and not event.whole:
                    raise failures.broken_off(self._endpoint, text) from error
                if text.startswith("{") or event.type == "error":
                    problem = "with text that is not JSON"
                    raise failures.of_answer(problem, self._endpoint, text) from error
                self._set_aside(event)
                return
            space = _SPACE.match(text, at)
            at = space.end() if space else at
            items = content if isinstance(content, list) else [content]
            yield from (self._checked(item, event) for item in items if isinstance(item, dict))
            if not any(isinstance(item, dict) for item in items):
                self._set_aside(event)

    def _set_aside(self, event: sse.Event) -> None:
        """Keep a text for messages, unless its event has a name: those that keep connections alive do."""
        if event.type in ("", "message"):
            self.aside = self.aside or event.data.strip()

    def _checked(self, content: Json, event: sse.Event) -> Json:
        """Count an object.

        Raises:
            ModelError, Transient: it is an error, by its content or by the type of its event.
        """
        error = _error_in(content) or (content if event.type == "error" else None)
        if error:
            raise failures.of_error_object(error, self._endpoint)
        self.pieces += bool(content.get("choices"))
        if isinstance(usage := content.get("usage"), dict):
            self.usage = usage
        return content


def _error_in(content: Json) -> object:
    """The error that an object is or has, in the forms that servers use; None if it is none."""
    error = content.get("error")
    if error:
        return error if isinstance(error, str | dict) else content
    if "error" in (content.get("object"), content.get("type")):
        return content
    choices = content.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("error"):
            return choice["error"]
    return None


def _why_not_an_object(text: str) -> str:
    try:
        parse_json(text)
    except ValueError:
        return "with text that is not JSON"
    return "with JSON that is not an object"


async def body(response: httpx.Response, endpoint: Endpoint) -> str:
    """The whole body of a response.

    Raises:
        ModelError: it is far larger than any valid response.
    """
    return b"".join([piece async for piece in portions(response, endpoint)]).decode("utf-8", "replace")


async def portions(response: httpx.Response, endpoint: Endpoint) -> AsyncGenerator[bytes, None]:
    """The body piece by piece, with one layer of gzip or deflate decompressed.

    Raises:
        ModelError: it is far larger than any response, compressed in more than one layer, or has a false
            encoding.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in (*_PLAIN, *_PACKED):
        raise failures.of_answer("compressed in a way that was not requested", endpoint)
    unpacking = zlib.decompressobj(_GZIP_OR_ZLIB) if encoding in _PACKED else None
    size = 0
    async for portion in response.aiter_raw():
        rest = portion
        while rest:
            if unpacking is None:
                piece, rest = rest, b""
            else:
                try:
                    piece = unpacking.decompress(rest, _PIECE)
                except zlib.error as error:
                    raise failures.of_answer(
                        "with content that is not compressed as declared", endpoint
                    ) from error
                rest = b"" if unpacking.eof else unpacking.unconsumed_tail
            size += len(piece)
            if size > LARGEST:
                raise failures.of_answer("with far more data than requested", endpoint)
            if piece:
                yield piece
