"""Completion, greedy or drawn, with token healing and a stop rule, several prompts at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Completion, Draw, Prompt
from counterlens.models.local.encoded_prompt import EncodedPrompt
from counterlens.models.local.engine import TokenEngine
from counterlens.models.local.healing import Constraint

Logits = dict[int, npt.NDArray[np.float32]]
"""The logits after the last token of each sequence, (vocabulary,) float32; the next call overwrites them."""


class Decoder(Protocol):
    """Holds the sequences of one request, by their place in it."""

    def read(self, sequences: Sequence[Sequence[int]], needs: Sequence[int]) -> Logits:
        """Read sequences, none of them empty.

        Args:
            sequences: Their tokens.
            needs: How many tokens each may come to hold.

        Raises:
            Cancelled: the engine's `cancelled` was set.
            ModelError: the engine failed.
        """

    def step(self, tokens: Mapping[int, int]) -> Logits:
        """Append a token to each of some sequences; the others have ended.

        Raises:
            Cancelled, ModelError: as `read`.
        """


class TokenEncoder(Protocol):
    """Turns a prompt into tokens."""

    def encode(self, prompt: Prompt) -> EncodedPrompt:
        """Encode a prompt; one that does not fit loses its oldest tokens.

        Raises:
            ModelError: a prompt is empty, or asks for more than the context holds.
        """


class Completer(ABC):
    """Completes prompts with one engine; the prompts of one call decode together.

    Args:
        encoder: Turns prompts into tokens.
        engine: The model.
        constraint: Of its vocabulary.
        rounding: The largest shift of the gap between the two likeliest tokens that was seen, in nats.
    """

    encoder: TokenEncoder
    engine: TokenEngine
    constraint: Constraint
    rounding: float

    @abstractmethod
    def decoder(self) -> Decoder:
        """The reader and continuer of the sequences of one group."""

    @abstractmethod
    def groups(self, needs: Sequence[int]) -> list[range]:
        """Split sequences into groups that fit into memory together, in their order.

        Args:
            needs: How many tokens each may come to hold.
        """

    def complete(self, prompts: Sequence[Prompt], progress: Callable[[int, int], None]) -> list[Completion]:
        """Continue each prompt at temperature 0, or by drawing; equal prompts are answered once.

        A prompt that does not fit into the context loses its oldest tokens; `dropped` says how many.

        Args:
            prompts: At least one.
            progress: Called with how many prompts are done, and how many there are.

        Raises:
            ModelError: a prompt is empty, asks for more than the context holds, or is drawn to a grammar.
            Cancelled, ModelError: as `Decoder.read`.
        """
        distinct = [_Growing(self.encoder.encode(prompt)) for prompt in dict.fromkeys(prompts)]
        needs = [len(growing.encoded.tokens) + growing.encoded.max_tokens for growing in distinct]
        finished = 0

        def advance() -> None:
            nonlocal finished
            finished += 1
            progress(finished, len(distinct))

        for group in self.groups(needs):
            self._generate([distinct[i] for i in group], [needs[i] for i in group], advance)
        answers = {growing.encoded.prompt: growing.answer for growing in distinct}
        return [answers[prompt] for prompt in prompts]

    def _generate(self, group: list[_Growing], needs: list[int], advance: Callable[[], None]) -> None:
        decoder = self.decoder()
        logits = decoder.read([growing.encoded.tokens for growing in group], needs)
        while logits:
            if self.engine.cancelled.is_set():
                raise Cancelled
            tokens: dict[int, int] = {}
            for i, row in sorted(logits.items()):
                growing = group[i]
                grammar = growing.encoded.grammar
                token = grammar.choose(row) if grammar else self._choose(row, growing)
                growing.append(token, self.engine)
                if growing.finish:
                    advance()
                else:
                    tokens[i] = token
            logits = decoder.step(tokens) if tokens else {}

    def _choose(self, logits: npt.NDArray[np.float32], growing: _Growing) -> int:
        """The most likely token, or one that is drawn, of those that spell out what is required."""
        pick = growing.drawing or (lambda row: growing.likeliest(row, self.rounding))
        if not growing.missing:
            return pick(logits)
        allowed = self.constraint.allowed(growing.missing)
        if not len(allowed):
            raise ModelError("the model's vocabulary cannot spell the end of the prompt")
        return int(allowed[pick(logits[allowed])])


_BLOCK = 256


class TokenDrawing:
    """Draws tokens: a completion is a function of its prompt and draw wherever the logits are."""

    def __init__(self, draw: Draw, text: str) -> None:
        self._temperature = draw.temperature
        self._chance = np.random.default_rng(draw.number(text.encode("utf-8", "surrogatepass")))

    def __call__(self, logits: npt.NDArray[np.float32]) -> int:
        """The place of a token, each as likely as the softmax of the logits over the temperature."""
        weights = np.exp((logits - logits.max()) * np.float32(1 / self._temperature))
        starts = np.arange(0, len(weights), _BLOCK)
        # First a block, then a token in it: a running sum over a whole vocabulary takes longer than the rest.
        upto = np.cumsum(np.add.reduceat(weights, starts, dtype=np.float64))
        at = self._chance.random() * upto[-1]
        block = min(int(np.searchsorted(upto, at, side="right")), len(upto) - 1)
        inside = weights[starts[block] : starts[block] + _BLOCK]
        within = np.cumsum(inside, dtype=np.float64)
        left = at - (upto[block - 1] if block else 0.0)
        place = min(int(np.searchsorted(within, left, side="right")), int(np.flatnonzero(inside)[-1]))
        return int(starts[block]) + place


@dataclass
class _Growing:
    """A completion that is being generated.

    Attributes:
        encoded: The prompt.
        written: The generated text, the required bytes included.
        count: How many tokens that is.
        finish: Why it ended; empty while it grows.
        text: The continuation.
        drawing: Draws its tokens, if they are drawn.
        ties: The gap at each token that rounding may have chosen.
    """

    encoded: EncodedPrompt
    written: bytes = b""
    count: int = 0
    finish: str = ""
    text: str = ""
    drawing: TokenDrawing | None = None
    ties: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        prompt = self.encoded.prompt
        if prompt.draw is None:
            return
        if self.encoded.grammar:
            raise ModelError("answers in a prescribed form cannot be sampled")
        self.drawing = TokenDrawing(prompt.draw, prompt.text)

    @property
    def missing(self) -> bytes:
        """The bytes still to spell out."""
        return self.encoded.required[len(self.written) :]

    @property
    def answer(self) -> Completion:
        ties = tuple(sorted(self.ties, key=lambda at: self.ties[at]))
        return Completion(self.text, self.finish, self.count, self.encoded.dropped, ties)

    def likeliest(self, logits: npt.NDArray[np.float32], rounding: float) -> int:
        """The place of the likeliest token, or of the second on a detour; notes a gap below the rounding."""
        first = int(np.argmax(logits))
        detour = self.count in self.encoded.prompt.detours
        if len(logits) < 2 or not (rounding or detour):
            return first
        best = logits[first]
        logits[first] = -np.inf
        second = int(np.argmax(logits))
        logits[first] = best
        if (gap := float(best - logits[second])) < rounding:
            self.ties[self.count] = gap
        return second if detour else first

    def append(self, token: int, engine: TokenEngine) -> None:
        """Take the next token, and see whether it ends here."""
        over = token in engine.ends and not self.missing
        if not over:
            if self.encoded.grammar:
                self.encoded.grammar.accept(token)
            self.written += engine.pieces[token]
            self.count += 1
        full = self.count >= self.encoded.max_tokens
        self.text, ended = self.encoded.text(self.written, complete=over or full)
        if over or ended:
            self.finish = "stop"
        elif full:
            self.finish = "length"
