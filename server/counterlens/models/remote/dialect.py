"""API dialects: a dialect builds a request for a prompt, and reads the model's text from the response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from counterlens.models.base import Draw, Prompt
from counterlens.models.remote.answer import Json


@dataclass(frozen=True, slots=True)
class Piece:
    """The content of one chunk, or of a whole response without streaming.

    Attributes:
        text: Text from the model.
        finish: Why it ended, in the server's word, if it did.
        thought: Reasoning that the server sends separately from the text.
        index: Index among several answers to one request.
    """

    text: str
    finish: str | None = None
    thought: str = ""
    index: int = 0


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

    def pieces(self, chunk: Json) -> list[Piece]:
        """Read one chunk or one whole response, which may have several choices.

        Raises:
            LookupError, TypeError: it has another format.
        """
        ...


def first_choice(chunk: Json) -> Json | None:
    """The first choice of a chunk; None for a chunk that only counts tokens.

    Raises:
        LookupError, TypeError: it has none.
    """
    return next(iter(choices_of(chunk)), None)


def index_of(choice: Json) -> int:
    """The index of the answer that a choice belongs to."""
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def choices_of(chunk: Json) -> list[Json]:
    """The choices of a chunk; empty for a chunk that only counts tokens.

    Raises:
        LookupError, TypeError: it has none.
    """
    choices = chunk["choices"]
    if not isinstance(choices, list):
        raise TypeError("choices is not a list")
    if not choices:
        if (
            chunk.get("object") == "text_completion"
            or chunk.get("usage")
            or "chunk" in str(chunk.get("object"))
        ):
            return []
        raise LookupError("choices is empty")
    if not all(isinstance(choice, dict) for choice in choices):
        raise TypeError("a choice is not an object")
    return choices


def string(value: object) -> str:
    """A string that may be null.

    Raises:
        TypeError: it is neither a string nor null.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError("a text is not a string")
    return value
