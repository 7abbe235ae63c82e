"""Completion, greedy or sampled, with token healing and a stop rule, several prompts at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError
from counterlens.models.base import Completion, Draw, Prompt
from counterlens.models.local.encoded_prompt import Constraint, EncodedPrompt
from counterlens.models.local.engine import TokenEngine
from counterlens.models.logprobs import log_probabilities_of
from counterlens.models.stopping import repeats_itself

Logits = dict[int, npt.NDArray[np.float32]]
"""The logits after the last token of each sequence, (vocabulary,) float32; the next call overwrites them."""
_BLOCK = 256
_LOOKS_EVERY, _LOOP = 64, 1000  # tokens, and characters that only repeat: a long list of zeros is shorter


class TokenEncoder(Protocol):
    """Converts a prompt to tokens."""

    def encode(self, prompt: Prompt) -> EncodedPrompt:
        """Encode a prompt; its oldest tokens are dropped if it does not fit.

        Raises:
            ModelError: the prompt is empty, or requests more tokens than the context holds.
        """


class Writer:
    """Chooses the tokens of completions.

    Args:
        encoder: Converts prompts to tokens.
        constraint: Constraint on its vocabulary.
        rounding: The gap between the two likeliest tokens, in nats, below which rounding may have chosen.
    """

    encoder: TokenEncoder
    engine: TokenEngine
    constraint: Constraint
    rounding: float

    def begin(self, prompts: Sequence[Prompt]) -> list[Growing]:
        """The completions of the different ones of some prompts; of a closed question, several.

        The oldest tokens of a prompt that does not fit into the context are dropped; `dropped` is their
        number.

        Raises:
            ModelError: a prompt is empty, requests more tokens than the context holds, is sampled with a
                grammar, or has an empty candidate.
        """
        begun: list[Growing] = []
        for prompt in dict.fromkeys(prompts):
            if prompt.candidates:
                begun += self._weigh(prompt)
            else:
                begun.append(Growing(self.encoder.encode(prompt)))
        return begun

    def _weigh(self, prompt: Prompt) -> list[Growing]:
        """The candidates of a closed question; those that differ only in their last token decode together."""
        tokens = [self.engine.tokenize(candidate.encode()) for candidate in prompt.candidates]
        if not min(map(len, tokens)):
            raise ModelError("a candidate of a closed question is empty")
        encoded = self.encoder.encode(replace(prompt, max_tokens=max(map(len, tokens))))
        if encoded.closing is not None:
            tokens = [
                [*self.engine.tokenize(candidate[:-1].encode()), encoded.closing]
                if candidate.endswith("\n")
                else own
                for candidate, own in zip(prompt.candidates, tokens, strict=True)
            ]
        ends: dict[tuple[int, ...], dict[int, int]] = {}
        for number, candidate in enumerate(tokens):
            ends.setdefault(tuple(candidate[:-1]), {})[number] = candidate[-1]
        encoded = replace(encoded, prompt=prompt)
        return [Growing(encoded, weighing=Weighing(path, last)) for path, last in ends.items()]

    def grow(self, growing: Growing, logits: npt.NDArray[np.float32]) -> int | None:
        """Append the next token, and return it; None if the completion has ended with it."""
        if growing.weighing:
            return growing.weighing.advance(logits)
        grammar = growing.encoded.grammar
        token = grammar.choose(logits) if grammar else self._choose(logits, growing)
        if growing.encoded.prompt.logprobs:
            growing.logprobs.append((len(growing.written), self._logprob(token, logits, growing)))
        growing.append(token, self.engine)
        return None if growing.finish else token

    def _choose(self, logits: npt.NDArray[np.float32], growing: Growing) -> int:
        """The most likely token, or a sampled one, among those that spell the required bytes."""
        pick = growing.drawing or (lambda row: growing.likeliest(row, self.rounding))
        if not growing.missing:
            return pick(logits)
        allowed = self.constraint.allowed(growing.missing)
        if not len(allowed):
            raise ModelError("the model's vocabulary cannot spell the end of the prompt")
        return int(allowed[pick(logits[allowed])])

    def _logprob(self, token: int, logits: npt.NDArray[np.float32], growing: Growing) -> float:
        """The log-probability of a token at temperature 1, among those that spell the required bytes."""
        possible = logits[self.constraint.allowed(growing.missing)] if growing.missing else logits
        return float(logits[token]) - _log_mass(possible)


def answers(distinct: Sequence[Growing], prompts: Sequence[Prompt]) -> list[Completion]:
    """The finished completion of each prompt."""
    by_prompt: dict[Prompt, list[Growing]] = {}
    for growing in distinct:
        by_prompt.setdefault(growing.encoded.prompt, []).append(growing)
    return [
        _closed_answer(prompt, by_prompt[prompt]) if prompt.candidates else by_prompt[prompt][0].answer
        for prompt in prompts
    ]


def _closed_answer(prompt: Prompt, weighed: Sequence[Growing]) -> Completion:
    """The answer to a closed question."""
    logprobs = {
        n: value for growing in weighed if growing.weighing for n, value in growing.weighing.ended.items()
    }
    values = tuple(logprobs[number] for number in range(len(prompt.candidates)))
    likeliest = prompt.candidates[max(logprobs, key=lambda number: (logprobs[number], -number))]
    return Completion(likeliest, "stop", 0, weighed[0].encoded.dropped, candidates=values)


def _log_mass(logits: npt.NDArray[np.float32]) -> float:
    """The logarithm of the sum of the exponentials."""
    top = logits.max()
    return float(top) + math.log(np.exp(logits - top).sum(dtype=np.float64))


class TokenDrawing:
    """Samples tokens: the completion is a function of prompt, sample and logits."""

    def __init__(self, draw: Draw, text: str) -> None:
        self._temperature = draw.temperature
        self._chance = np.random.default_rng(draw.number(text.encode("utf-8", "surrogatepass")))

    def __call__(self, logits: npt.NDArray[np.float32]) -> int:
        """Sample the index of a token from the softmax of the logits divided by the temperature."""
        weights = np.exp((logits - logits.max()) * np.float32(1 / self._temperature))
        starts = np.arange(0, len(weights), _BLOCK)
        # First a block, then a token in it: a running sum over the vocabulary takes longer than the rest.
        upto = np.cumsum(np.add.reduceat(weights, starts, dtype=np.float64))
        at = self._chance.random() * upto[-1]
        block = min(int(np.searchsorted(upto, at, side="right")), len(upto) - 1)
        inside = weights[starts[block] : starts[block] + _BLOCK]
        within = np.cumsum(inside, dtype=np.float64)
        left = at - (upto[block - 1] if block else 0.0)
        place = min(int(np.searchsorted(within, left, side="right")), int(np.flatnonzero(inside)[-1]))
        return int(starts[block]) + place


@dataclass
class Weighing:
    """Candidates of a closed question with the same tokens up to the last, which is never decoded.

    Attributes:
        path: The tokens before the last.
        last: The last token of each candidate, by its number.
        read: Number of tokens of `path` that were weighed.
        logprob: Sum of their log-probabilities.
        ended: The log-probability of each candidate, at the end.
    """

    path: tuple[int, ...]
    last: Mapping[int, int]
    read: int = 0
    logprob: float = 0.0
    ended: dict[int, float] = field(default_factory=dict)

    def advance(self, logits: npt.NDArray[np.float32]) -> int | None:
        """Weigh the next token, and return it; None after the last."""
        mass = _log_mass(logits)
        if self.read == len(self.path):
            self.ended = {n: self.logprob + float(logits[token]) - mass for n, token in self.last.items()}
            return None
        token = self.path[self.read]
        self.read += 1
        self.logprob += float(logits[token]) - mass
        return token


@dataclass
class Growing:
    """A completion that is being generated.

    Attributes:
        written: The generated text, including the required bytes.
        count: Number of generated tokens.
        finish: Why it ended; empty while it grows.
        text: The continuation.
        drawing: Samples its tokens, if they are sampled.
        ties: The gap at each token that rounding may have chosen.
        logprobs: Its tokens: the number of bytes written before, and the log-probability.
        weighing: Set if nothing is generated, but candidates are weighed.
    """

    encoded: EncodedPrompt
    written: bytes = b""
    count: int = 0
    finish: str = ""
    text: str = ""
    drawing: TokenDrawing | None = None
    ties: dict[int, float] = field(default_factory=dict)
    logprobs: list[tuple[int, float]] = field(default_factory=list)
    weighing: Weighing | None = None

    def __post_init__(self) -> None:
        prompt = self.encoded.prompt
        if prompt.draw is None:
            return
        if self.encoded.grammar:
            raise ModelError("answers in a prescribed form cannot be sampled")
        self.drawing = TokenDrawing(prompt.draw, prompt.text)

    @property
    def need(self) -> int:
        """Maximum number of tokens of prompt and completion."""
        return len(self.encoded.tokens) + self.encoded.max_tokens

    @property
    def missing(self) -> bytes:
        """The required bytes not yet written."""
        return self.encoded.required[len(self.written) :]

    @property
    def answer(self) -> Completion:
        ties = tuple(sorted(self.ties, key=lambda at: self.ties[at]))
        prompt, required = self.encoded.prompt, len(self.encoded.required)
        logprobs = (
            log_probabilities_of(self.text, self.written, self.logprobs, required)
            if prompt.logprobs
            else None
        )
        return Completion(self.text, self.finish, self.count, self.encoded.dropped, ties, logprobs=logprobs)

    def likeliest(self, logits: npt.NDArray[np.float32], rounding: float) -> int:
        """The index of the likeliest token, or of the second on a detour; notes a gap below the rounding."""
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
        """Append the next token, and check whether the completion ends."""
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
        elif full or self._loops():
            self.finish = "length"

    def _loops(self) -> bool:
        """Whether an answer repeats itself, as small models do, and would do so up to the token limit."""
        looks = self.encoded.prompt.reply is not None and self.count % _LOOKS_EVERY == 0
        return looks and repeats_itself(self.text, _LOOP)
