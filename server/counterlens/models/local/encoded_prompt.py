"""A prompt as the tokens that a model reads, and how its continuation is read back out of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from counterlens.errors import EmptyPromptError, ModelError
from counterlens.models import stopping
from counterlens.models.base import Prompt
from counterlens.models.chat.turn import Turn
from counterlens.models.local import healing
from counterlens.models.local.engine import TokenEngine

_LEAST_PROMPT = 16
"""Tokens of a prompt that must fit at least."""


class TokenGrammar(Protocol):
    """The form that an answer is held to."""

    def choose(self, logits: npt.NDArray[np.float32]) -> int:
        """The likeliest token that the form allows."""

    def accept(self, token: int) -> None:
        """Go on after a token."""


@dataclass(frozen=True)
class EncodedPrompt:
    """A prompt as the tokens that a model reads.

    Attributes:
        prompt: The prompt.
        tokens: The tokens to be decoded.
        required: The bytes that the first new tokens have to spell out (token healing).
        dropped: How many of the prompt's oldest tokens did not fit.
        max_tokens: How many tokens may be generated.
        grammar: The grammar of the answer.
        turn: Set where the answer is a reply that the continuation has to be read out of.
    """

    prompt: Prompt
    tokens: list[int]
    required: bytes
    dropped: int
    max_tokens: int
    grammar: TokenGrammar | None = None
    turn: Turn | None = None

    def text(self, written: bytes, *, complete: bool) -> tuple[str, bool]:
        """The continuation according to what was generated, and whether it ends here."""
        answer = written[len(self.required) :].decode("utf-8", "ignore")  # a character may be incomplete
        text: str | None = answer
        ended = False
        if self.turn:
            ended = self.turn.ended(answer)
            text = self.turn.text(answer, complete=complete or ended)
        if text is None:
            return "", False
        at_line_start = self.prompt.text.endswith("\n")
        end = stopping.cut(text, self.prompt.stop, at_line_start=at_line_start)
        return (text, ended) if end is None else (end, True)


def encode_plain(engine: TokenEngine, prompt: Prompt, grammar: TokenGrammar | None = None) -> EncodedPrompt:
    """Encode a prompt as it stands, healed where it is no question.

    Args:
        engine: The model.
        prompt: The prompt; its oldest tokens are dropped if it does not fit.
        grammar: The grammar of the answer.

    Raises:
        ModelError: the prompt is empty, or asks for more than the context holds.
    """
    if not prompt.text:
        raise EmptyPromptError
    text = prompt.text.encode("utf-8", "surrogatepass")
    if prompt.reply is not None:  # a question is read as it stands
        tokens, required = engine.tokenize(text), b""
    else:
        tokens, required = healing.split(engine, text)
    dropped = overflow(prompt, len(tokens) + len(required), engine.context)
    return EncodedPrompt(prompt, tokens[dropped:], required, dropped, prompt.max_tokens, grammar)


def overflow(prompt: Prompt, tokens: int, context: int) -> int:
    """How many of a prompt's tokens do not fit.

    Args:
        prompt: The prompt.
        tokens: How many it has.
        context: How many the model's window holds.

    Raises:
        ModelError: hardly any would.
    """
    room = context - prompt.max_tokens
    if room < _LEAST_PROMPT:
        raise ModelError(
            f"{prompt.max_tokens} new tokens do not fit into a context of {context}", "Ask for fewer"
        )
    return max(0, tokens - room)
