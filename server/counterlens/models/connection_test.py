"""Connection test: whether a model answers, its speed, and its capabilities."""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Event

from counterlens.errors import ModelError
from counterlens.models.base import Capability, Model, ModelInfo, Prompt, Stop

PROMPT = Prompt("def add(a, b):\n    return", 16, Stop(indent=0))
"""The prompt of the test."""


@dataclass(frozen=True, slots=True)
class ConnectionTest:
    """Result of a connection test.

    Attributes:
        info: Identity of the model, including capabilities found by the test.
        tokens: Number of tokens of the completion.
        seconds: Duration of the completion.
        scores: Whether it returns token probabilities: without them there is no overlay.
        way: How a server gives them; empty if there is only one way.
        embeds: Whether it gives embeddings.
        thought: Number of tokens of reasoning.
    """

    info: ModelInfo
    prompt: str
    completion: str
    tokens: int
    seconds: float
    scores: bool
    way: str
    embeds: bool
    thought: int = 0


def run_connection_test(model: Model, *, cancel: Event | None = None) -> ConnectionTest:
    """Let a model complete one line, and test its capabilities again.

    Args:
        model: The model; a cached one would answer from its cache.

    Raises:
        ModelError: it cannot be reached, or does not complete; the message gives the reason.
        Cancelled: `cancel` was set.
    """
    started = time.perf_counter()
    (answer,) = model.complete([PROMPT], cancel=cancel)
    seconds = time.perf_counter() - started
    scores = model.offers(Capability.SCORE, retest=True, cancel=cancel)
    embeds = _embeds(model, cancel)
    info = model.info
    return ConnectionTest(
        info,
        PROMPT.text,
        answer.text,
        answer.tokens,
        seconds,
        scores,
        info.scoring or "",
        embeds,
        answer.thought,
    )


def _embeds(model: Model, cancel: Event | None) -> bool:
    """Whether a model gives embeddings; some servers fail unless started for that."""
    try:
        return model.offers(Capability.EMBED, retest=True, cancel=cancel)
    except ModelError:
        return False
