"""Completions from an endpoint: requests with the parameters that it accepts, and the stop rule."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from counterlens.errors import ModelError
from counterlens.models.base import Completion, Prompt
from counterlens.models.chat.turn import Turn
from counterlens.models.healing import Contradiction
from counterlens.models.logprobs import log_probabilities_of
from counterlens.models.remote import failures, sse, thinking
from counterlens.models.remote.accepted_parameters import LIMIT, ParameterLearner
from counterlens.models.remote.answer import Answer, Json
from counterlens.models.remote.background import together
from counterlens.models.remote.client import HttpClient
from counterlens.models.remote.dialect import Dialect, Exchange, Piece, pieces_of
from counterlens.models.remote.endpoint import Endpoint
from counterlens.models.remote.failures import RefusedRequestError, UnknownModelError
from counterlens.models.remote.listing import Listing, unknown
from counterlens.models.remote.metering import thought_in
from counterlens.models.stopping import cut

_LENGTH: Final = frozenset({"length", "max_tokens"})
_MARK: Final = 16  # characters before a piece in which a mark may begin

_USUAL: Final = 1  # the temperature of a request without one
_KEEP_ALIVES: Final = ("ping", "heartbeat", "keepalive", "keep-alive")
_INTERRUPTED: Final = ("error", "abort", "cancelled", "insufficient_system_resource")
"""Reasons for which servers end an answer that is not whole."""


class RemoteCompleter:
    """Completes prompts, with the parameters that an endpoint accepts.

    Args:
        client: Sends requests to it.
        model: The name of the model there.
        dialect: The API dialect.
        listing: The models of the endpoint.
        parameters: Further parameters of each request.
        thinking: Maximum tokens of reasoning, besides those of the answer; 0: no separate limit.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        client: HttpClient,
        model: str,
        dialect: Dialect,
        listing: Listing,
        learner: ParameterLearner,
        parameters: Mapping[str, Any] | None = None,
        thinking: int = 0,
    ) -> None:
        self._endpoint, self._client, self._model = endpoint, client, model
        self._dialect, self._listing, self._parameters = dialect, listing, dict(parameters or {})
        self._learner, self._thinking = learner, thinking
        self._forms = Forms()
        self._trying_several = asyncio.Lock()

    async def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Complete one prompt, or several that differ only in the sample.

        Raises:
            ModelError: there is no response, or none that can be read.
        """
        try:
            if len(prompts) > 1:
                return await self._samples(prompts)
            return [await self._single(prompts[0])]
        except UnknownModelError as error:
            raise unknown(error.message, await self._listing.names_or_none()) from error.__cause__

    async def _single(self, prompt: Prompt) -> Completion:
        if prompt.max_tokens < 1:
            return Completion("", "length", 0)
        (completion,) = await self._ask(prompt, self._dialect.exchange(prompt))
        if completion is None:
            (completion,) = await self._ask(prompt, self._dialect.exchange(prompt, heal=False))
        if completion is None:
            raise failures.of_answer("with text that does not follow the prompt", self._endpoint)
        return completion

    async def _samples(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Request several completions at once if the endpoint supports it, which is tested once."""
        if self._learner.accepted.several is None:
            async with self._trying_several:
                if self._learner.accepted.several is None:
                    return await self._several(prompts)
        if self._learner.accepted.several:
            return await self._several(prompts)
        return await together([self._single(prompt) for prompt in prompts])

    async def _several(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Send one request for all; missing completions are requested one by one."""
        first = prompts[0]
        try:
            completions = await self._ask(first, self._dialect.exchange(first), len(prompts))
            offered: bool | None = len(completions) == len(prompts)
        except RefusedRequestError:
            completions, offered = [], False
        given = [completion for completion in completions if completion is not None]
        missing = prompts[len(given) :]
        rest = await together([self._single(prompt) for prompt in missing])
        self._learner.learn(replace(self._learner.accepted, several=offered))
        return [*given, *rest]

    async def _ask(self, prompt: Prompt, exchange: Exchange, count: int = 1) -> list[Completion | None]:
        """The completions in one response, as many as it has; None for one that does not fit the prompt."""

        async def read(answer: Answer) -> list[Completion | None]:
            return await self._read(prompt, exchange, answer, count)

        async def send(body: Json) -> list[Completion | None]:
            if "temperature" not in body and prompt.draw is not None and prompt.draw.temperature != _USUAL:
                raise ModelError(
                    f"{self._endpoint.host} has a fixed temperature",
                    f"Use it: --temperature {_USUAL}",
                )
            return await self._client.post(self._dialect.path, body, read)

        payload: Json = {"model": self._model, **exchange.payload, **self._parameters}
        payload[LIMIT] += self._thinking
        if payload["stream"]:
            payload["stream_options"] = {"include_usage": True}
        if count > 1:
            payload["n"] = count
        refusal: RefusedRequestError | None = None
        for way, form in self._forms.ways(payload):
            try:
                answers = await self._learner.ask(form, send)
            except RefusedRequestError as error:
                refusal = refusal or error
            else:
                self._forms.took(way)
                return answers
        assert refusal is not None  # there is at least one way
        raise refusal

    async def _read(
        self, prompt: Prompt, exchange: Exchange, answer: Answer, count: int
    ) -> list[Completion | None]:
        """Read completions until the stop rule applies to all; ending early closes the connection."""
        readings: dict[int, AnswerReading] = {}
        last = sse.DONE
        async for chunk in answer:
            last = json.dumps(chunk)
            try:
                pieces = pieces_of(chunk)
            except TypeError as error:
                raise failures.of_answer("without a completion", self._endpoint, last) from error
            if not (pieces or "choices" in chunk or "usage" in chunk or chunk.get("type") in _KEEP_ALIVES):
                answer.aside = answer.aside or last
            for piece in pieces:
                if piece.index not in readings and len(readings) < count:
                    readings[piece.index] = AnswerReading(prompt, exchange, self._thinking)
                if piece.index in readings:
                    readings[piece.index].add(piece, streamed=answer.streamed)
            answer.thought = sum(reading.thought for reading in readings.values())
            answer.complete = len(readings) == count and all(each.finished for each in readings.values())
            if answer.complete and all(reading.ended for reading in readings.values()):
                break
        self._check(readings.values(), answer, last)
        answered = [reading for _, reading in sorted(readings.items()) if reading.answered]
        return [_completion_of(reading, answer, len(answered)) for reading in answered]

    def _check(self, readings: Collection[AnswerReading], answer: Answer, last: str) -> None:
        """Check that a response has an answer, and that it is whole.

        Args:
            readings: What was read of it.
            last: Its last object, for messages.

        Raises:
            ModelError, Transient: it has none, or only a part.
        """
        unfinished = not readings or not all(reading.finished for reading in readings)
        answered = any(reading.answered for reading in readings)
        if unfinished and not answer.done:
            raise failures.broken_off(self._endpoint, answer.aside or last)
        if unfinished and answered and answer.aside:  # perhaps an error, after which the stream ends as usual
            raise failures.interruption(self._endpoint, answer.aside)
        for reading in readings:
            if reading.finish == "content_filter":
                raise ModelError(
                    f"the content filter of {self._endpoint.host} withheld the answer", "Try another model"
                )
            if reading.finish in _INTERRUPTED:
                raise failures.interruption(self._endpoint, reading.finish)
        if not answered:
            raise failures.without_answer(self._endpoint, answer.aside or last, streamed=answer.streamed)


def _completion_of(reading: AnswerReading, answer: Answer, count: int) -> Completion | None:
    """The result of a request; None if it does not fit the prompt. A server counts all of them together."""
    usage = answer.usage if count == 1 and answer.usage is not None else {}
    tokens = usage.get("completion_tokens")
    if reading.contradicted:
        return None
    try:
        return reading.completion(tokens if isinstance(tokens, int) else None, thought_in(usage))
    except Contradiction:
        return None


class Forms:
    """The request formats for one endpoint, best first; one that it refused is not tried again."""

    def __init__(self) -> None:
        self._ways: list[Callable[[Json], Json]] = [dict, _as_object, _formless]  # the first as written
        self._accepted_form = 0

    def ways(self, payload: Json) -> Iterator[tuple[int, Json]]:
        """Request bodies to be tried in turn, with their numbers; a single one if no format is requested."""
        if _formless(payload) == payload:
            yield self._accepted_form, payload
            return
        tried: list[Json] = []
        for number, way in enumerate(self._ways):
            body = way(payload)
            if number >= self._accepted_form and body not in tried:
                tried.append(body)
                yield number, body

    def took(self, number: int) -> None:
        """Record that the endpoint answered a request in this format."""
        self._accepted_form = max(self._accepted_form, number)


def _as_object(payload: Json) -> Json:
    """The schema beside `json_object`, as llama-cpp-python's server accepts it."""
    form = payload.get("response_format")
    if not isinstance(form, dict) or "json_schema" not in form:
        return payload
    return {**payload, "response_format": {"type": "json_object", "schema": form["json_schema"]["schema"]}}


def _formless(payload: Json) -> Json:
    """No format: the parser is tolerant anyway."""
    return {key: value for key, value in payload.items() if key not in {"grammar", "response_format"}}


class AnswerReading:
    """Takes the pieces of one response until it ends.

    Args:
        room: Maximum tokens of reasoning; 0: no separate limit.

    Attributes:
        finish: Why it ended, in the server's word; None if it has not.
        ended: Whether nothing more must be read.
        contradicted: Whether the response does not fit the prompt.
    """

    def __init__(self, prompt: Prompt, exchange: Exchange, room: int) -> None:
        self.finish: str | None = None
        self.ended = self.contradicted = False
        self._prompt, self._exchange, self._room = prompt, exchange, room
        self._streamed = False
        self._limit = int(exchange.payload["max_tokens"])
        self._at_line_start = prompt.text[-1:] in ("", "\n", "\r")
        self._written = ""
        self._parts = thinking.Parts("", "", False)
        self._cut: str | None = None
        self._apart = self._thought = self._pieces = 0
        self._over = False
        self._tokens: list[tuple[bytes, float]] = []

    def add(self, piece: Piece, *, streamed: bool) -> None:
        """Take the next piece; `streamed`: whether pieces have about a token each."""
        if self.ended:
            return
        self._streamed = streamed
        self.finish = piece.finish or self.finish
        self._tokens += piece.tokens
        if piece.thought:
            self._apart += self._size(piece.thought)
        if piece.text:
            self._pieces += self._size(piece.text)
            self._process_addition(piece.text)
        if self._streamed and self._room:
            written = self._pieces - self._thought
            self._over = self._apart + self._thought > self._room or written > self._limit
            self.ended = self.ended or self._over

    @property
    def finished(self) -> bool:
        """Whether nothing is missing: the server ended it, or nothing more must be read."""
        return self.ended or self.finish is not None

    @property
    def answered(self) -> bool:
        """Whether there is an answer: a text, or an end without one."""
        return self.finished or bool(self._written)

    @property
    def thought(self) -> int:
        """Estimated number of tokens of reasoning so far."""
        return self._apart + self._thought

    def completion(self, counted: int | None, thought: int) -> Completion:
        """Return the written text.

        Args:
            counted: Number of tokens of the response, if the server counted them.
            thought: Number of tokens of reasoning among them, as the server says.
        """
        thought = thought or self.thought
        tokens = counted or self._pieces + self._apart
        content, finish = self._cut, "stop"
        if content is None:
            silent = thought > 0 and not self._parts.answer.strip()
            text = "" if silent else self._exchange.text(self._parts.answer, complete=True) or ""
            end = cut(text, self._prompt.stop, at_line_start=self._at_line_start)
            content = text if end is None else end
            # A reply of nothing but reasoning has no answer, whatever the server says about its end: it broke
            # off, or the server took the answer for reasoning.
            if end is None and (self.finish in _LENGTH or silent or self._over):
                finish = "length"
        # the text with surrogate pairs joined that a server sent in two pieces
        text = content.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return Completion(text, finish, tokens, thought=thought, logprobs=self._logprobs(text))

    def _logprobs(self, text: str) -> tuple[tuple[int, float], ...] | None:
        """The log-probabilities of the tokens of the continuation, if the server returned them."""
        if not self._prompt.logprobs or not self._tokens:
            return None
        written, rows = b"", []
        for piece, logprob in self._tokens:
            rows.append((len(written), logprob))
            written += piece
        answer = self._parts.answer.encode("utf-8", "surrogatepass")
        return log_probabilities_of(text, written, rows, max(0, written.rfind(answer)))

    def _process_addition(self, added: str) -> None:
        """Check whether an addition ends the answer."""
        self._written += added
        if self._parts.thinking and ">" not in self._written[-len(added) - _MARK :]:
            self._thought += self._size(added)
            return
        self._parts = thinking.parts(self._written)
        if self._parts.thinking or (self._parts.thought and not self._parts.answer):
            self._thought += self._size(added)
            return
        if not self._streamed and self._parts.thought:
            self._thought = self._size(self._parts.thought)
        if self._may_think_first:
            return
        try:
            text = self._exchange.text(self._parts.answer, complete=False)
        except Contradiction:
            self.contradicted = self.ended = True
            return
        if text is not None:
            self._cut = cut(text, self._prompt.stop, at_line_start=self._at_line_start)
        if self._cut is not None or self._exchange.ended(self._parts.answer):
            self.finish, self.ended = "stop", True

    @property
    def _may_think_first(self) -> bool:
        """Whether the text may be reasoning whose opening mark the template wrote."""
        shown = self._apart or self._parts.thought
        return bool(self._room) and not shown and isinstance(self._exchange, Turn)

    def _size(self, text: str) -> int:
        return 1 if self._streamed else thinking.about_tokens(text)
