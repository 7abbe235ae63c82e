"""Greedy completion with token healing and a stop rule, several prompts at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterlens.errors import Cancelled, ModelError
from counterlens.models import stopping
from counterlens.models.base import Completion, Prompt
from counterlens.models.llama import healing
from counterlens.models.llama.grammar import Grammar
from counterlens.models.llama.lanes import Lanes, Row
from counterlens.models.llama.native import Engine

_LEAST_PROMPT = 16


@dataclass
class Completer:
    """Completes prompts with one engine. What is asked in one call decodes together.

    How a batch is made up moves logits a little, so a near tie may fall the other way in another batch. The
    answers to one call depend on its prompts and their order, and on nothing else.
    """

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
        distinct = [self._prepare(prompt) for prompt in dict.fromkeys(prompts)]
        needs = [len(one.tokens) + one.prompt.max_tokens for one in distinct]
        finished = 0

        def advance() -> None:
            nonlocal finished
            finished += 1
            progress(finished, len(distinct))

        for group in self.lanes.groups(needs):
            self.lanes.start([needs[i] for i in group])
            self._generate([distinct[i] for i in group], advance)
        answers = {one.prompt: one.answer for one in distinct}
        return [answers[prompt] for prompt in prompts]

    def _prepare(self, prompt: Prompt) -> _Growing:
        engine = self.engine
        text, grammar = prompt.text.encode(), None
        if prompt.reply is None:
            tokens, required = healing.split(engine, text)
        else:  # a question is read as it stands
            tokens, required = engine.tokenize(text), b""
            grammar = Grammar(engine, prompt.reply.grammar)
        if not tokens:
            raise ModelError("an empty prompt cannot be completed", "Give the model something to continue")
        room = engine.context - prompt.max_tokens - len(required)
        if room < _LEAST_PROMPT:
            raise ModelError(
                f"{prompt.max_tokens} new tokens do not fit into a context of {engine.context}",
                "Ask for fewer",
            )
        dropped = max(0, len(tokens) - room)
        return _Growing(prompt, tokens[dropped:], required, dropped, grammar)

    def _generate(self, group: list[_Growing], advance: Callable[[], None]) -> None:
        logits: Sequence[npt.NDArray[np.float32]] = self.lanes.read([one.tokens for one in group])
        growing = list(enumerate(group))
        while growing:
            if self.engine.cancelled.is_set():
                raise Cancelled
            rows, still = [], []
            for (lane, one), row in zip(growing, logits, strict=True):
                token = one.grammar.choose(row) if one.grammar else self._choose(row, one.missing)
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
        prompt: What is continued.
        tokens: What is fed.
        required: What the first tokens have to spell out.
        dropped: How many of the prompt's oldest tokens are not fed.
        grammar: What the continuation is held to.
        written: What was generated, `required` included.
        count: How many tokens that is.
        finish: Why it ended; empty while it grows.
        text: The continuation.
    """

    prompt: Prompt
    tokens: list[int]
    required: bytes
    dropped: int
    grammar: Grammar | None = None
    written: bytes = b""
    count: int = 0
    finish: str = ""
    text: str = ""

    @property
    def missing(self) -> bytes:
        """What is still to be spelled out."""
        return self.required[len(self.written) :]

    @property
    def answer(self) -> Completion:
        return Completion(self.text, self.finish, self.count, self.dropped)

    def append(self, token: int, engine: Engine) -> None:
        """Take the next token, and see whether it ends here."""
        if token in engine.ends and not self.missing:
            self.finish = "stop"
            return
        if self.grammar:
            self.grammar.accept(token)
        self.written += engine.pieces[token]
        self.count += 1
        text = self.written[len(self.required) :].decode("utf-8", "ignore")  # a character may be incomplete
        end = stopping.cut(text, self.prompt.stop, at_line_start=self.prompt.text.endswith("\n"))
        self.text = text if end is None else end
        if end is not None:
            self.finish = "stop"
        elif self.count >= self.prompt.max_tokens:
            self.finish = "length"
