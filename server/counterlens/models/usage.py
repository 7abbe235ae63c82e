"""The cost of answers: their tokens, and the price of a million of them."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Self

DEFAULT_CURRENCY = "USD"
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of an endpoint.

    Attributes:
        requests: How many it answered.
        read: Tokens of the prompts.
        cached: Those of them that it had read before, if it says so.
        written: Tokens of the answers, with those of reasoning.
        thought: Those of reasoning, if it says so.
        estimated: How many of the requests it did not count, so that their tokens are estimated.
    """

    requests: int = 0
    read: int = 0
    cached: int = 0
    written: int = 0
    thought: int = 0
    estimated: int = 0

    def __add__(self, other: Self) -> Self:
        return type(self)(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Self) -> Self:
        return type(self)(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.read + self.written


@dataclass(frozen=True, slots=True)
class Price:
    """The price per million tokens.

    Attributes:
        input: Of a prompt.
        output: Of an answer.
        currency: As people write it, such as `USD`.
        cached: The price of cached tokens of a prompt; None: as `input`.
    """

    input: float
    output: float
    currency: str = DEFAULT_CURRENCY
    cached: float | None = None

    def of(self, usage: Usage) -> float:
        """The cost of a usage, in the currency."""
        again = self.input if self.cached is None else self.cached
        read = (usage.read - usage.cached) * self.input + usage.cached * again
        return (read + usage.written * self.output) / _MILLION
