"""Greedy completion with token healing and a stop rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterlens.errors import Cancelled, ModelError
from counterlens.models import stopping
from counterlens.models.base import Completion, Prompt
from counterlens.models.llama import healing
from counterlens.models.llama.native import Engine

_GROUP = 256


@dataclass
class Completer:
    """Completes prompts with one engine; prompts with a common prefix share its KV cache."""

    engine: Engine
    constraint: healing.Constraint

    def complete(self, prompt: Prompt, progress: Callable[[int, int], None]) -> Completion:
        """Continue a prompt at temperature 0.

        A prompt that does not fit into the context loses its oldest tokens; `dropped` says how many.

        Raises:
            Cancelled, ModelError: as `Engine.decode`.
        """
        engine = self.engine
        tokens, required = healing.split(engine, prompt.text.encode())
        if not tokens:
            raise ModelError("an empty prompt cannot be completed", "Give the model something to continue")
        room = engine.context - prompt.max_tokens - len(required)
        if room < 16:
            raise ModelError(
                f"{prompt.max_tokens} new tokens do not fit into a context of {engine.context}",
                "Ask for fewer",
            )
        dropped = max(0, len(tokens) - room)
        logits = self._feed(tokens[dropped:])
        at_line_start = prompt.text.endswith("\n")
        written, count, finish = b"", 0, "length"
        while count < prompt.max_tokens:
            if engine.cancelled.is_set():
                raise Cancelled
            token = self._choose(logits, required[len(written) :])
            if token in engine.ends and len(written) >= len(required):
                finish = "stop"
                break
            written += engine.pieces[token]
            count += 1
            progress(count, prompt.max_tokens)
            text = _text(written[len(required) :])
            end = stopping.cut(text, prompt.stop, at_line_start=at_line_start)
            if end is not None:
                return Completion(end, "stop", count, dropped)
            if count < prompt.max_tokens:
                logits = engine.decode([token], logits_from=0)[0]
        return Completion(_text(written[len(required) :]), finish, count, dropped)

    def _feed(self, tokens: list[int]) -> npt.NDArray[np.float32]:
        """Decode a prompt and return the logits after its last token."""
        at = self.engine.keep_prefix(tokens, len(tokens) - 1)
        while True:
            part = tokens[at : at + _GROUP]
            at += len(part)
            last = at == len(tokens)
            logits = self.engine.decode(part, logits_from=len(part) - last)
            if last:
                row: npt.NDArray[np.float32] = logits[0]
                return row

    def _choose(self, logits: npt.NDArray[np.float32], required: bytes) -> int:
        """The most likely token, of those that spell out what is required."""
        if not required:
            return int(np.argmax(logits))
        allowed = self.constraint.allowed(required)
        if not len(allowed):
            raise ModelError("the model's vocabulary cannot spell the end of the prompt")
        return int(allowed[np.argmax(logits[allowed])])


def _text(data: bytes) -> str:
    """The text of bytes whose last character may still be incomplete."""
    return data.decode("utf-8", "ignore")
