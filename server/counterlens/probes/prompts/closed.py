"""Closed questions: the probability of each candidate answer, such as yes and no, or the lines of a function.

A question is read, and what follows it is weighed; nothing is generated (`models/closed.py`). A model without
token probabilities writes its answer, which is parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from threading import Event

import numpy as np

from counterlens.models.base import Capability, Model, Prompt
from counterlens.models.closed import candidate_logprobs
from counterlens.probes.prompts.templates import chats
from counterlens.progress import Steps

YES_NO = ("yes", "no")


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
    """The source of a model's answers.

    A chat model needs `Capability.CHOOSE`: scored texts are no messages.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: `cancel` was set.
    """
    needed = Capability.CHOOSE if chats(model.info) else Capability.SCORE
    return AnswerSource.PROBABILITY if model.offers(needed, cancel=cancel) else AnswerSource.TEXT


def ask(
    model: Model,
    prompts: Sequence[Prompt],
    read: Callable[[str], bool | None],
    steps: Steps,
    what: str,
    *,
    words: tuple[str, str] = YES_NO,
) -> list[YesNo]:
    """Ask some questions whose answer is yes or no.

    Args:
        prompts: The questions, best ordered so that common prefixes are adjacent.
        read: Reads a written answer.
        steps: Progress, question by question, and cancellation.
        what: The name of the step, for progress.
        words: Yes and no, as the question wants them.

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
    known = choose(model, [closed_prompt(prompt, words) for prompt in prompts], steps, what)
    return [YesNo(yes > no, float(np.exp(yes))) for yes, no in known]


def closed_prompt(prompt: Prompt, words: Sequence[str], *, ended: bool = False) -> Prompt:
    """A question with its candidates, as they stand behind it.

    Args:
        words: The candidates.
        ended: Whether the end of the answer is weighed, too, because one candidate begins with another.
    """
    blank, end = "" if prompt.reply else " ", "\n" if ended else ""
    return Prompt(prompt.text, reply=prompt.reply, candidates=tuple(f"{blank}{word}{end}" for word in words))


def choose(model: Model, questions: Sequence[Prompt], steps: Steps, what: str) -> list[tuple[float, ...]]:
    """The log-probability of each candidate of each question, in nats, given that one of them is the answer.

    Args:
        model: A model that answers by probabilities (`how`).
        questions: Closed questions, best ordered so that common prefixes are adjacent.
        steps: Progress, question by question, and cancellation.
        what: The name of the step, for progress.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: it was cancelled.
    """
    steps.next(what, 0, len(questions))
    said = candidate_logprobs(
        model,
        questions,
        cancel=steps.cancel,
        progress=lambda done, total: steps.report(what, done, total),
    )
    scores = [np.array(values) for values in said]
    return [tuple((values - np.logaddexp.reduce(values)).tolist()) for values in scores]
