"""API dialects: a dialect builds a request for a prompt, and reads the model's text from the response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from counterlens.models.base import Draw, Prompt
from counterlens.models.remote.answer import Json
from counterlens.models.remote.thinking import field_of, split_content


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
    finish, index = choice.get("finish_reason"), choice.get("index")
    number = index if isinstance(index, int) else 0
    return Piece(text, str(finish) if finish else None, thought, number, _tokens_of(choice.get("logprobs")))


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
