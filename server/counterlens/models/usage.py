"""The cost of responses: their tokens, and the price per million tokens."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Self

DEFAULT_CURRENCY = "USD"
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of an endpoint.

    Attributes:
        requests: Number of answered requests.
        read: Number of tokens of the prompts.
        cached: Number of prompt tokens from the endpoint's cache, if it says so.
        written: Number of tokens of the responses, including reasoning.
        thought: Number of tokens of reasoning, if the endpoint says so.
        estimated: Number of requests that the endpoint did not count, so that their tokens are estimated.
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
        input: Price of prompt tokens.
        output: Price of response tokens.
        currency: The currency for display, such as `USD`.
        cached: Price of cached prompt tokens; None: as `input`.
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
