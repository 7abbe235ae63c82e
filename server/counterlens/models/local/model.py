"""A model that runs in a child process."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import Any, Unpack

import numpy as np

from counterlens.errors import ModelError
from counterlens.models.base import Capability, Completion, Model, Prompt, TokenScores, Vectors
from counterlens.models.local.messages import Complete, Embed, Score, ScoreContinuations, Scored, ScoreSpan
from counterlens.models.local.process import ModelProcess
from counterlens.progress import RequestOptions

DEFAULT_CONTEXT = 8192


class LocalModel(Model):
    """Passes every request to a child process; a back end opens the process and implements `info`.

    Attributes:
        file_bytes: Size of its weights.
    """

    def __init__(self, process: ModelProcess, file_bytes: int = 0) -> None:
        self._process, self.file_bytes = process, file_bytes

    @property
    def pid(self) -> int | None:
        """The process id of the child that holds the model; None if it does not run."""
        return self._process.pid

    @property
    def seconds(self) -> float:
        return self._process.seconds

    def lack(self, capability: Capability) -> ModelError | None:  # noqa: ARG002 - a back end may lack some
        """The error of requests that need a capability which the model lacks; None if it has it."""
        return None

    def _ask(self, capability: Capability, request: object, **options: Unpack[RequestOptions]) -> Any:
        if (error := self.lack(capability)) is not None:
            raise error
        return self._process.ask(request, **options)

    def complete(self, prompts: Sequence[Prompt], **options: Unpack[RequestOptions]) -> list[Completion]:
        """Like `Model.complete`: the prompts of one call decode together; progress counts prompts."""
        if not prompts:
            return []
        request = Complete(tuple(prompts))
        answers: list[Completion] = self._ask(Capability.COMPLETE, request, **options)
        return answers

    def score(
        self, text: str, *, context: str = "", alternatives: int = 5, **options: Unpack[RequestOptions]
    ) -> TokenScores:
        """Like `Model.score`; progress counts tokens."""
        request = Score(
            text.encode("utf-8", "surrogatepass"), context.encode("utf-8", "surrogatepass"), alternatives
        )
        scored: Scored = self._ask(Capability.SCORE, request, **options)
        return _token_scores(text, scored)

    def score_continuations(
        self,
        context: str,
        continuations: Sequence[str],
        *,
        unscored: Sequence[int] = (),
        alternatives: int = 5,
        **options: Unpack[RequestOptions],
    ) -> list[TokenScores]:
        """Like `Model.score_continuations`: they decode together; progress counts tokens."""
        if not continuations:
            return []
        request = ScoreContinuations(
            context.encode("utf-8", "surrogatepass"),
            tuple(text.encode("utf-8", "surrogatepass") for text in continuations),
            tuple(unscored) or (0,) * len(continuations),
            alternatives,
        )
        scored: list[Scored] = self._ask(Capability.SCORE, request, **options)
        return [_token_scores(text, scores) for text, scores in zip(continuations, scored, strict=True)]

    def score_span(
        self, text: str, start: int, end: int, *, alternatives: int = 0, cancel: Event | None = None
    ) -> TokenScores:
        if Capability.MASKED not in self.info.capabilities:
            return super().score_span(text, start, end, alternatives=alternatives, cancel=cancel)
        request = ScoreSpan(text.encode("utf-8", "surrogatepass"), start, end, alternatives)
        first, scored = self._ask(Capability.MASKED, request, cancel=cancel)
        return _token_scores(text, scored, first)

    def embed(self, texts: Sequence[str], **options: Unpack[RequestOptions]) -> Vectors:
        """Like `Model.embed`: pooled as the model's file says, else by the mean of the last hidden states."""
        if not texts:
            return np.empty((0, 0))
        request = Embed(tuple(text.encode("utf-8", "surrogatepass") for text in texts))
        return np.asarray(self._ask(Capability.EMBED, request, **options), np.float64)

    def close(self) -> None:
        """End the child process."""
        self._process.close()


def _token_scores(text: str, scored: Scored, first: int = 0) -> TokenScores:
    start = np.concatenate([[first], scored.end[:-1]]).astype(np.int64) if len(scored.end) else scored.end
    return TokenScores(
        text=text,
        start=start,
        end=scored.end,
        logprob=scored.logprob,
        entropy=scored.entropy,
        rank=scored.rank,
        alternative_logprob=scored.alternative_logprob,
        alternative_text=tuple(
            tuple(piece.decode("utf-8", "replace") for piece in row) for row in scored.alternatives
        ),
        context=scored.context,
        deviation=scored.deviation,
    )
