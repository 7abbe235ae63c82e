"""Greedy completion with token healing and a stop rule, several prompts at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Completion, Prompt
from counterlens.models.llama import healing
from counterlens.models.llama.decoding import Decoder, ExactDecoder, FreeDecoder, Shape
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import EncodedPrompt, PromptEncoder
from counterlens.models.llama.sequences import SequenceBatch


@dataclass
class LlamaCompleter:
    """Completes prompts with one engine; the prompts of one call decode together.

    With a shape a completion is a function of its prompt. Without, how a batch is made up moves logits a
    little, so a near tie may fall the other way in another one; the answers to one call depend on its prompts
    and their order, and on nothing else.

    Attributes:
        shape: The class of shapes in which this model decodes exactly; None where there is none.
    """

    encoder: PromptEncoder
    engine: Engine
    constraint: healing.Constraint
    batch: SequenceBatch
    shape: Shape | None = None

    def complete(self, prompts: Sequence[Prompt], progress: Callable[[int, int], None]) -> list[Completion]:
        """Continue each prompt at temperature 0; equal prompts are answered once.

        A prompt that does not fit into the context loses its oldest tokens; `dropped` says how many.

        Args:
            prompts: At least one.
            progress: Called with how many prompts are done, and how many there are.

        Raises:
            ModelError: a prompt is empty, or asks for more than the context holds.
            Cancelled, ModelError: as `SequenceBatch.decode`.
        """
        distinct = [_Growing(self.encoder.encode(prompt)) for prompt in dict.fromkeys(prompts)]
        needs = [len(growing.encoded.tokens) + growing.encoded.max_tokens for growing in distinct]
        finished = 0

        def advance() -> None:
            nonlocal finished
            finished += 1
            progress(finished, len(distinct))

        decoder = ExactDecoder(self.batch, self.shape) if self.shape else FreeDecoder(self.batch)
        for group in self.batch.groups(needs):
            self._generate(decoder, [distinct[i] for i in group], [needs[i] for i in group], advance)
        answers = {growing.encoded.prompt: growing.answer for growing in distinct}
        return [answers[prompt] for prompt in prompts]

    def _generate(
        self, decoder: Decoder, group: list[_Growing], needs: list[int], advance: Callable[[], None]
    ) -> None:
        logits = decoder.read([growing.encoded.tokens for growing in group], needs)
        while logits:
            if self.engine.cancelled.is_set():
                raise Cancelled
            tokens: dict[int, int] = {}
            for i, row in sorted(logits.items()):
                growing = group[i]
                grammar = growing.encoded.grammar
                token = grammar.choose(row) if grammar else self._choose(row, growing.missing)
                growing.append(token, self.engine)
                if growing.finish:
                    advance()
                else:
                    tokens[i] = token
            logits = decoder.step(tokens) if tokens else {}

    def _choose(self, logits: npt.NDArray[np.float32], required: bytes) -> int:
        """The most likely token, of those that spell out what is required."""
        if not required:
            return int(np.argmax(logits))
        allowed = self.constraint.allowed(required)
        if not len(allowed):
            raise ModelError("the model's vocabulary cannot spell the end of the prompt")
        return int(allowed[np.argmax(logits[allowed])])


@dataclass
class _Growing:
    """A completion that is being generated.

    Attributes:
        encoded: The prompt.
        written: What was generated, the required bytes included.
        count: How many tokens that is.
        finish: Why it ended; empty while it grows.
        text: The continuation.
    """

    encoded: EncodedPrompt
    written: bytes = b""
    count: int = 0
    finish: str = ""
    text: str = ""

    @property
    def missing(self) -> bytes:
        """What is still to be spelled out."""
        return self.encoded.required[len(self.written) :]

    @property
    def answer(self) -> Completion:
        return Completion(self.text, self.finish, self.count, self.encoded.dropped)

    def append(self, token: int, engine: Engine) -> None:
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
