"""Yes-or-no questions, batched by function.

The probabilities of the two answers are compared if the model gives them, and common prefixes are read once.
Otherwise the model writes an answer, which is parsed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from os.path import commonprefix
from threading import Event

from counterlens.models.base import Capability, Model, Prompt
from counterlens.probes.prompts.templates import chats
from counterlens.progress import Steps

WORDS = (" yes", " no")
_TOGETHER = 64
"""Questions per request; progress is reported after each request."""


class AnswerSource(StrEnum):
    """The source of answers."""

    PROBABILITY = "the probabilities of yes and no were compared"
    TEXT = "answers were read from the model's text"


@dataclass(frozen=True, slots=True)
class YesNo:
    """One answer.

    Attributes:
        yes: Whether the answer is yes; None if it cannot be read.
        probability: p(yes) / (p(yes) + p(no)); None if the model gives no probabilities.
    """

    yes: bool | None
    probability: float | None = None


def how(model: Model, cancel: Event | None = None) -> AnswerSource:
    """The source of a model's answers; a chat model writes them.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: `cancel` was set.
    """
    written = chats(model.info) or not model.offers(Capability.SCORE, cancel=cancel)
    return AnswerSource.TEXT if written else AnswerSource.PROBABILITY


def ask(
    model: Model, prompts: Sequence[Prompt], read: Callable[[str], bool | None], steps: Steps, what: str
) -> list[YesNo]:
    """Ask some questions.

    Args:
        prompts: The questions, best ordered so that common prefixes are adjacent.
        read: Reads a written answer.
        steps: Progress, question by question, and cancellation.
        what: The name of the step, for progress.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: it was cancelled.
    """
    if not prompts:
        return []
    steps.next(what, 0, len(prompts))
    if how(model, steps.cancel) is AnswerSource.TEXT:
        completions = model.complete(
            prompts, cancel=steps.cancel, progress=lambda done, total: steps.report(what, done, total)
        )
        return [YesNo(read(completion.text)) for completion in completions]
    texts = [prompt.text for prompt in prompts]
    shared = commonprefix(texts).rpartition("\n")[0]  # noqa: RUF071 - of texts; it ends at a line end
    answers: list[YesNo] = []
    for low, high in pairwise([*range(0, len(texts), _TOGETHER), len(texts)]):
        steps.check()
        answers += _compare(model, shared, [text[len(shared) :] for text in texts[low:high]], steps.cancel)
        steps.report(what, high, len(texts))
    return answers


def _compare(model: Model, shared: str, asked: Sequence[str], cancel: Event | None) -> list[YesNo]:
    """The probabilities of yes and no after each question."""
    answered = [text + word for text in asked for word in WORDS]
    read = [len(text.encode()) for text in asked for _ in WORDS]
    scores = model.score_continuations(shared, answered, unscored=read, alternatives=0, cancel=cancel)
    said = [
        float(score.logprob[score.end > bytes_read].sum())
        for score, bytes_read in zip(scores, read, strict=True)
    ]
    return [
        YesNo(yes > no, 1 / (1 + math.exp(min(no - yes, 700))))
        for yes, no in zip(said[::2], said[1::2], strict=True)
    ]
