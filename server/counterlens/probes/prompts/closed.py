"""Closed questions: the probability of each candidate answer, such as yes and no, or the lines of a function.

The text of a question and each of its candidates are read, and nothing is decoded; what texts have in common
is read once. A model without token probabilities writes its answer, which is parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from os.path import commonprefix
from threading import Event

import numpy as np

from counterlens.models.base import Capability, Model, Prompt
from counterlens.probes.prompts.templates import chats
from counterlens.progress import Steps

WORDS = (" yes", " no")
_TOGETHER = 128
"""Texts per request; progress is reported after each request."""


class AnswerSource(StrEnum):
    """The source of answers."""

    PROBABILITY = "the probabilities of yes and no were compared"
    TEXT = "answers were read from the model's text"


@dataclass(frozen=True, slots=True)
class ClosedQuestion:
    """A question and its candidates.

    Attributes:
        text: The text that a candidate follows.
        candidates: The answers, each as it would be written, with what ends it if one begins with another.
    """

    text: str
    candidates: tuple[str, ...]


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
    """Ask some questions whose answer is yes or no.

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
    if how(model, steps.cancel) is AnswerSource.TEXT:
        steps.next(what, 0, len(prompts))
        completions = model.complete(
            prompts, cancel=steps.cancel, progress=lambda done, total: steps.report(what, done, total)
        )
        return [YesNo(read(completion.text)) for completion in completions]
    known = choose(model, [ClosedQuestion(prompt.text, WORDS) for prompt in prompts], steps, what)
    return [YesNo(yes > no, float(np.exp(yes))) for yes, no in known]


def choose(
    model: Model, questions: Sequence[ClosedQuestion], steps: Steps, what: str
) -> list[tuple[float, ...]]:
    """The log-probability of each candidate of each question, in nats, given that one of them is the answer.

    Args:
        model: A model that answers by probabilities (`how`).
        questions: The questions, best ordered so that common prefixes are adjacent.
        steps: Progress, question by question, and cancellation.
        what: The name of the step, for progress.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: it was cancelled.
    """
    steps.next(what, 0, len(questions))
    texts = [question.text for question in questions]
    shared = commonprefix(texts).rpartition("\n")[0]  # noqa: RUF071 - of texts; it ends at a line end
    chosen: list[tuple[float, ...]] = []
    for low, high in pairwise(_groups(questions)):
        steps.check()
        together = questions[low:high]
        said = _answer_scores(
            model,
            shared,
            [(asked.text[len(shared) :], answer) for asked in together for answer in asked.candidates],
            steps.cancel,
        )
        for asked in together:
            scores = np.array([next(said) for _ in asked.candidates])
            chosen.append(tuple((scores - np.logaddexp.reduce(scores)).tolist()))
        steps.report(what, high, len(questions))
    return chosen


def _groups(questions: Sequence[ClosedQuestion]) -> list[int]:
    """Where the questions of each request begin, and where the last one ends."""
    starts, texts = [0], 0
    for number, question in enumerate(questions):
        if texts and texts + len(question.candidates) > _TOGETHER:
            starts.append(number)
            texts = 0
        texts += len(question.candidates)
    return [*starts, len(questions)]


def _answer_scores(
    model: Model, shared: str, answered: Sequence[tuple[str, str]], cancel: Event | None
) -> Iterator[float]:
    """The log-probability of each answer after its question."""
    read = [len(asked.encode()) for asked, _ in answered]
    scores = model.score_continuations(
        shared, [asked + answer for asked, answer in answered], unscored=read, alternatives=0, cancel=cancel
    )
    for score, bytes_read in zip(scores, read, strict=True):
        yield float(score.logprob[score.end > bytes_read].sum())
