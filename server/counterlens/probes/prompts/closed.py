"""Closed questions: the probability of each candidate answer, such as yes and no, or the lines of a function.

A question is read, and what follows it is weighed; nothing is generated (`models/closed.py`). A model without
token probabilities writes its answer, which is parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from threading import Event

import numpy as np

from counterlens.models.base import Capability, Completion, Model, Prompt
from counterlens.models.closed import candidate_logprobs
from counterlens.probes.probe import complete_together
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


@dataclass(frozen=True, slots=True)
class WeighedQuestion:
    """A question with its candidates.

    Attributes:
        prompt: The question.
        words: The candidates.
        ended: Whether the end of the answer is weighed, too, because one candidate begins with another.
    """

    prompt: Prompt
    words: tuple[str, ...]
    ended: bool = False

    @property
    def spellings(self) -> list[tuple[str, ...]]:
        """How each candidate may stand behind the question; in a chat, also with a capital letter."""
        end = "\n" if self.ended else ""
        if not self.prompt.reply:
            return [(f" {word}{end}",) for word in self.words]
        return [tuple(dict.fromkeys((word + end, word[:1].upper() + word[1:] + end))) for word in self.words]

    @property
    def closed(self) -> Prompt:
        """The question with all spellings as its candidates."""
        spellings = tuple(chain.from_iterable(self.spellings))
        return Prompt(self.prompt.text, reply=self.prompt.reply, candidates=spellings)

    def shares(self, logprobs: Sequence[float]) -> tuple[float, ...]:
        """The log-probability of each candidate, given that one of them is the answer.

        Args:
            logprobs: That of each spelling.
        """
        remaining = iter(logprobs)
        sums = np.array([np.logaddexp.reduce([next(remaining) for _ in same]) for same in self.spellings])
        return tuple((sums - np.logaddexp.reduce(sums)).tolist())


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
        completions = model.complete(prompts, **steps.request(what, len(prompts)))
        return [YesNo(read(completion.text)) for completion in completions]
    shares = choose(model, [WeighedQuestion(prompt, words) for prompt in prompts], steps, what)
    return [YesNo(yes > no, float(np.exp(yes))) for yes, no in shares]


def choose(
    model: Model, questions: Sequence[WeighedQuestion], steps: Steps, what: str
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
    closed = [question.closed for question in questions]
    said = candidate_logprobs(model, closed, **steps.request(what, len(questions)))
    return [question.shares(values) for question, values in zip(questions, said, strict=True)]


def answer_together(
    model: Model,
    written: Sequence[Prompt],
    questions: Sequence[WeighedQuestion],
    steps: Steps,
    what: str,
) -> tuple[list[Completion], list[tuple[float, ...]]]:
    """The completions of some prompts, and what `choose` returns for some questions.

    They are one request to a model that weighs candidates beside other prompts, so that all share its calls.

    Raises:
        As `choose`.
    """
    if questions and not model.offers(Capability.CHOOSE, cancel=steps.cancel):
        said = complete_together(model, what, written, steps) if written else []
        return said, choose(model, questions, steps, what)
    asked = [*written, *(question.closed for question in questions)]
    said = complete_together(model, what, asked, steps)
    weighed = zip(questions, said[len(written) :], strict=True)
    return said[: len(written)], [question.shares(each.candidates) for question, each in weighed]
