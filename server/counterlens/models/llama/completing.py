"""Greedy completion with token healing and a stop rule, several prompts at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Completion, Prompt
from counterlens.models.llama import healing
from counterlens.models.llama.asking import Asked, Asker
from counterlens.models.llama.lanes import Lanes, Row
from counterlens.models.llama.native import Engine


@dataclass
class Completer:
    """Completes prompts with one engine. What is asked in one call decodes together.

    How a batch is made up moves logits a little, so a near tie may fall the other way in another batch. The
    answers to one call depend on its prompts and their order, and on nothing else.
    """

    asker: Asker
    engine: Engine
    constraint: healing.Constraint
    lanes: Lanes

    def complete(self, prompts: Sequence[Prompt], progress: Callable[[int, int], None]) -> list[Completion]:
        """Continue each prompt at temperature 0; equal prompts are answered once.

        A prompt that does not fit into the context loses its oldest tokens; `dropped` says how many.

        Args:
            prompts: At least one.
            progress: Called with how many prompts are done, and how many there are.

        Raises:
            ModelError: a prompt is empty, or asks for more than the context holds.
            Cancelled, ModelError: as `Lanes.decode`.
        """
        distinct = [_Growing(self.asker.ask(prompt)) for prompt in dict.fromkeys(prompts)]
        needs = [len(one.asked.tokens) + one.asked.max_tokens for one in distinct]
        finished = 0

        def advance() -> None:
            nonlocal finished
            finished += 1
            progress(finished, len(distinct))

        for group in self.lanes.groups(needs):
            self.lanes.start([needs[i] for i in group])
            self._generate([distinct[i] for i in group], advance)
        answers = {one.asked.prompt: one.answer for one in distinct}
        return [answers[prompt] for prompt in prompts]

    def _generate(self, group: list[_Growing], advance: Callable[[], None]) -> None:
        logits: Sequence[npt.NDArray[np.float32]] = self.lanes.read([one.asked.tokens for one in group])
        growing = list(enumerate(group))
        while growing:
            if self.engine.cancelled.is_set():
                raise Cancelled
            rows, still = [], []
            for (lane, one), row in zip(growing, logits, strict=True):
                grammar = one.asked.grammar
                token = grammar.choose(row) if grammar else self._choose(row, one.missing)
                one.append(token, self.engine)
                if one.finish:
                    advance()
                else:
                    rows.append(Row(lane, token, wanted=True))
                    still.append((lane, one))
            growing = still
            if rows:
                logits = list(self.lanes.decode(rows))

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
    """A completion on its way.

    Attributes:
        asked: What is continued.
        written: What was generated, what was required included.
        count: How many tokens that is.
        finish: Why it ended; empty while it grows.
        text: The continuation.
    """

    asked: Asked
    written: bytes = b""
    count: int = 0
    finish: str = ""
    text: str = ""

    @property
    def missing(self) -> bytes:
        """What is still to be spelled out."""
        return self.asked.required[len(self.written) :]

    @property
    def answer(self) -> Completion:
        return Completion(self.text, self.finish, self.count, self.asked.dropped)

    def append(self, token: int, engine: Engine) -> None:
        """Take the next token, and see whether it ends here."""
        over = token in engine.ends and not self.missing
        if not over:
            if self.asked.grammar:
                self.asked.grammar.accept(token)
            self.written += engine.pieces[token]
            self.count += 1
        full = self.count >= self.asked.max_tokens
        self.text, ended = self.asked.text(self.written, complete=over or full)
        if over or ended:
            self.finish = "stop"
        elif full:
            self.finish = "length"
