"""Trying a model: does it answer, how fast, and what can it be asked?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Event

from counterlens.errors import ModelError
from counterlens.models.base import Capability, Model, ModelInfo, Prompt, Stop

PROMPT = Prompt("def add(a, b):\n    return", 16, Stop(indent=0))
"""What a model is asked to continue."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What a trial found.

    Attributes:
        info: Who answered, with what became known by asking.
        prompt: What it was given.
        completion: What it wrote.
        tokens: How many tokens that was.
        seconds: How long that took.
        scores: Whether it gives token probabilities: without them there is no overlay.
        way: How a server gives them; empty where there is only one way.
        embeds: Whether it gives embeddings.
    """

    info: ModelInfo
    prompt: str
    completion: str
    tokens: int
    seconds: float
    scores: bool
    way: str
    embeds: bool


def try_model(model: Model, *, cancel: Event | None = None) -> Trial:
    """Let a model complete one line, and ask it anew what it can do.

    Args:
        model: Who is tried. What it answered before must not count, so it should not be a cached one.
        cancel: Set it to give up.

    Raises:
        ModelError: it cannot be reached, or does not complete; the message says why.
        Cancelled: `cancel` was set.
    """
    started = time.perf_counter()
    (answer,) = model.complete([PROMPT], cancel=cancel)
    seconds = time.perf_counter() - started
    scores = model.offers(Capability.SCORE, anew=True, cancel=cancel)
    embeds = _embeds(model, cancel)
    way = dict(model.info.details).get("probabilities", "")
    return Trial(model.info, PROMPT.text, answer.text, answer.tokens, seconds, scores, way, embeds)


def _embeds(model: Model, cancel: Event | None) -> bool:
    """Whether a model gives embeddings; some servers fail where they were not started for them."""
    try:
        return model.offers(Capability.EMBED, anew=True, cancel=cancel)
    except ModelError:
        return False
