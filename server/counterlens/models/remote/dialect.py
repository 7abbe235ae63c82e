"""API dialects: a dialect builds a request for a prompt, and reads the model's text from the response.

There are two: the completions API, where the model continues the prompt as it is (`POST /completions`),
and the chat API.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, Protocol

from counterlens.models import healing
from counterlens.models.base import Draw, Prompt
from counterlens.models.chat.turn import INSTRUCTION, Turn
from counterlens.models.entries import PLACE
from counterlens.models.remote.answer import Json
from counterlens.models.remote.thinking import field_of, split_content

_MOST_STOPS: Final = 4  # OpenAI's API refuses more


@dataclass(frozen=True, slots=True)
class Piece:
    """The content of one chunk, or of a whole response without streaming.

    Attributes:
        text: Text from the model.
        finish: Why it ended, in the server's word, if it did.
        thought: Reasoning that the server sends separately from the text.
        index: Index among several answers to one request.
        tokens: The bytes of its generated tokens, with the log-probability of each, if they were requested.
    """

    text: str
    finish: str | None = None
    thought: str = ""
    index: int = 0
    tokens: tuple[tuple[bytes, float], ...] = ()


def sampling(draw: Draw | None) -> Json:
    """The request parameters for sampling; a server may ignore the seed."""
    if draw is None:
        return {"temperature": 0}
    return {"temperature": draw.temperature, "seed": draw.number() >> 32}


class Exchange(Protocol):
    """One request for one prompt."""

    @property
    def payload(self) -> Json:
        """The body of the request, without the model's name."""
        ...

    def text(self, answer: str, *, complete: bool) -> str | None:
        """The continuation of the prompt, given the model's text so far; None if it is too early to decide.

        Raises:
            Contradiction: the response does not fit the prompt; use `Dialect.exchange(heal=False)`.
        """
        ...

    def ended(self, answer: str) -> bool:
        """Whether the answer is complete, although the stream may continue."""
        ...


class Dialect(Protocol):
    """One of the APIs."""

    @property
    def path(self) -> str:
        """The path after the base URL."""
        ...

    @property
    def identity(self) -> str:
        """A key that changes with the wording of requests to the same model."""
        ...

    def exchange(self, prompt: Prompt, *, heal: bool = True) -> Exchange:
        """A request; `heal`: whether the prompt may be sent without its trailing whitespace."""
        ...


def pieces_of(chunk: Json) -> list[Piece]:
    """Read one chunk or one whole response, which may have several choices, of either API.

    Raises:
        TypeError: it has another format.
    """
    return [_piece(choice) for choice in _choices_of(chunk)]


def _piece(choice: Json) -> Piece:
    # Some servers send the whole text so far as a message beside each addition.
    message = choice["delta"] if "delta" in choice else choice.get("message")
    if message is None:
        message = {}
    if not isinstance(message, dict):
        raise TypeError("a message is not an object")
    content = message.get("content")
    thought, text = split_content(choice.get("text") if content is None else content)
    thought = field_of(message) or field_of(choice) or thought
    finish, index = choice.get("finish_reason"), choice.get("index") or 0
    if not isinstance(index, int) or index < 0:
        raise TypeError(f"a choice has the index {index}")
    return Piece(text, str(finish) if finish else None, thought, index, _tokens_of(choice.get("logprobs")))


def _tokens_of(logprobs: Any) -> tuple[tuple[bytes, float], ...]:
    """The tokens of a choice; none if it has none, or they have another format.

    The chat API, and llama-server and Ollama for either API, give an object for each token; the completions
    API gives a list of tokens beside one of values.
    """
    if not isinstance(logprobs, dict):
        return ()
    rows = logprobs.get("content")
    if isinstance(rows, list):
        pairs = [
            (row.get("bytes") or row.get("token"), row.get("logprob"))
            for row in rows
            if isinstance(row, dict)
        ]
    else:
        texts, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
        if not isinstance(texts, list) or not isinstance(values, list):
            return ()
        pairs = list(zip(texts, values, strict=False))
    tokens = []
    for text, value in pairs:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return ()
        if isinstance(text, str):
            tokens.append((text.encode("utf-8", "surrogatepass"), float(value)))
        elif isinstance(text, list) and all(isinstance(byte, int) and 0 <= byte < 256 for byte in text):
            tokens.append((bytes(text), float(value)))
        else:
            return ()
    return tuple(tokens)


def first_choice(chunk: Json) -> Json | None:
    """The first choice of a response; None if it has none.

    Raises:
        TypeError: it has another format.
    """
    return next(iter(_choices_of(chunk)), None)


def _choices_of(chunk: Json) -> list[Json]:
    """The choices; empty for a chunk that only counts tokens, or says what a filter found."""
    choices = chunk.get("choices")
    if choices is None:
        return []
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise TypeError("choices is not a list of objects")
    return choices


@dataclass(frozen=True, slots=True)
class Continuation:
    """A request to continue `head`; `gap` is the whitespace between it and the end of the prompt.

    `fill`: whether the server gets the text after the hole.
    """

    head: str
    gap: str
    prompt: Prompt
    fill: bool = False

    @property
    def payload(self) -> Json:
        """The body of the request."""
        body: Json = {
            "prompt": self.head,
            "max_tokens": self.prompt.max_tokens,
            **sampling(self.prompt.draw),
            "stream": True,
        }
        # the stop texts with the same effect on the server, where the completion includes the gap
        texts = [text for text in self.prompt.stop.texts if text]
        if self.gap:
            texts = [text for text in texts if text[0] not in healing.WHITESPACE]
        stops = texts[:_MOST_STOPS]
        if stops:
            body["stop"] = stops
        if self.prompt.logprobs:
            body["logprobs"] = 1  # the number of alternatives; some servers return none for 0
        if self.fill:
            body["suffix"] = self.prompt.suffix
        if self.prompt.reply is not None and self.prompt.reply.grammar:
            body["grammar"] = self.prompt.reply.grammar  # for llama.cpp's servers; others ignore or refuse it
        return body

    def text(self, answer: str, *, complete: bool) -> str | None:
        """Return the text after the prompt."""
        return healing.reconcile(self.gap, answer, complete=complete)

    def ended(self, answer: str) -> bool:  # noqa: ARG002 - only chat replies continue after their end
        """Always false: the server knows the end."""
        return False


class CompletionsDialect:
    """The completions API.

    Args:
        fill: Whether the model also gets the text after the hole (`suffix`), if the server accepts it.
        template: The text around a question, with the placeholder `{prompt}`; None: it is sent as it is.
    """

    path = "/completions"

    def __init__(self, *, fill: bool = False, template: str | None = None) -> None:
        self._fill, self._template = fill, template
        self.identity = "fill" if fill else "completions"
        if template is not None:
            self.identity += f" {template}"

    def exchange(self, prompt: Prompt, *, heal: bool = True) -> Continuation:
        """A request that ends at a token boundary, unless `heal` is false."""
        if prompt.reply is not None:
            return Continuation(self._around(prompt.text), "", prompt)
        head, gap = healing.split(prompt.text) if heal else (prompt.text, "")
        return Continuation(head, gap, prompt, fill=self._fill)

    def _around(self, question: str) -> str:
        return question if self._template is None else self._template.replace(PLACE, question)


@dataclass(frozen=True, slots=True)
class ChatExchange(Turn):
    """One request of the chat API, and its response."""

    @property
    def payload(self) -> Json:
        """The body of the request, without stop texts: a reply that repeats the prompt may contain them."""
        body: Json = {
            "messages": [{"role": role, "content": text} for role, text in self.messages],
            "max_tokens": self.max_tokens,
            **sampling(self.prompt.draw),
            "stream": True,
        }
        if self.prompt.logprobs:
            body["logprobs"] = True
        if self.prompt.reply is not None and self.prompt.reply.schema:
            form = {"name": "answer", "strict": True, "schema": json.loads(self.prompt.reply.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body


class ChatDialect:
    """The chat API."""

    path = "/chat/completions"
    identity = f"chat {INSTRUCTION}"

    def exchange(self, prompt: Prompt, *, heal: bool = True) -> ChatExchange:  # noqa: ARG002 - nothing to heal
        """A request; the reply starts its own line, so it never contradicts the prompt."""
        return ChatExchange(prompt)
