"""One way to ask all questions of a prompted task: in shared calls, with candidates where there are some.

A closed question is answered by the probability of each candidate, and written, too, if a figure needs the
words. Without probabilities it is written and read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from counterlens.models.base import Prompt
from counterlens.models.chat.replies import without_thought
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.closed import AnswerSource, WeighedQuestion, answer_together, how
from counterlens.probes.prompts.language import prompting_of
from counterlens.probes.prompts.templates import chats, fill, has_template
from counterlens.probes.sanity import require_repeatable

ValueT = TypeVar("ValueT")

UNREADABLE = "answer that is neither yes nor no"


@dataclass(frozen=True, slots=True)
class Question(Generic[ValueT]):
    """A question about a program.

    Attributes:
        template: The name of its template, without the suffix of a language, which not all have.
        places: The values of the template's placeholders.
        read: The value in a written answer; None if there is none.
        candidates: The possible values, by their words; empty for an open question.
        ended: Whether one of these words begins with another, as numbers do.
        is_written: Whether the answer is written even if the candidates have probabilities.
        max_tokens: Maximum number of tokens of a written answer.
        package: The package that has the template; if empty, the package of the task.
    """

    template: str
    places: Mapping[str, str]
    read: Callable[[str], ValueT | None]
    candidates: Mapping[str, ValueT] = field(default_factory=dict)
    ended: bool = False
    is_written: bool = False
    max_tokens: int = 16
    package: str = ""


@dataclass(frozen=True, slots=True)
class TaskAnswer(Generic[ValueT]):
    """The answer to a question.

    Attributes:
        value: The value in it: the written one, or else that of the likeliest candidate; None if the text
            has none.
        said: The model's text; empty if it wrote nothing.
        logprobs: The log-probability of each candidate, in nats, given that one of them is the answer; empty
            if the model gives none.
    """

    value: ValueT | None
    said: str = ""
    logprobs: tuple[float, ...] = ()

    @property
    def probability(self) -> float | None:
        """The probability of the first candidate, such as yes; None if the model gives none."""
        return float(np.exp(self.logprobs[0])) if self.logprobs else None


def ask_questions(
    context: Context,
    target: Target,
    package: str,
    questions: Sequence[Question[ValueT]],
    what: str,
) -> list[TaskAnswer[ValueT]]:
    """Ask all questions, the first one twice.

    Args:
        package: The package that has the templates.
        questions: The questions, best ordered so that common prefixes are adjacent.
        what: The name of the step, for progress.

    Raises:
        UnsteadyModelError: the first question gets another answer the second time.
        ModelError, Cancelled: as `Model.complete`.
    """
    if not questions:
        return []
    info, suffix = context.model.info, prompting_of(target.document.language).suffix

    def prompt(question: Question[ValueT]) -> Prompt:
        own, within = question.template + suffix, question.package or package
        name = own if has_template(within, own, chats(info)) else question.template
        return fill(info, within, name, question.max_tokens, ("\n",), **question.places)

    prompts = [prompt(each) for each in questions]
    replies = _ask(context, prompts, questions, what)

    def first(answers: Sequence[TaskAnswer[ValueT]]) -> ValueT | str | None:
        return answers[0].said or answers[0].value

    again = context.uncached
    require_repeatable(
        context.model,
        "answer the same question",
        first(replies),
        lambda: first(_ask(again, prompts[:1], questions[:1], what)),
    )
    return replies


def _ask(
    context: Context, prompts: Sequence[Prompt], questions: Sequence[Question[ValueT]], what: str
) -> list[TaskAnswer[ValueT]]:
    weighs = how(context.model, context.cancel) is AnswerSource.PROBABILITY
    asked = list(zip(prompts, questions, strict=True))
    written = [prompt for prompt, each in asked if each.is_written or not (weighs and each.candidates)]
    weighed = [
        WeighedQuestion(prompt, tuple(each.candidates), each.ended)
        for prompt, each in asked
        if weighs and each.candidates
    ]
    completions, chances = answer_together(context.model, written, weighed, context.steps, what)
    texts, logprobs = iter(completions), iter(chances)

    def replies() -> Iterator[TaskAnswer[ValueT]]:
        for each in questions:
            chosen = next(logprobs) if weighs and each.candidates else ()
            if each.is_written or not chosen:
                said = next(texts).text
                yield TaskAnswer(each.read(said), said, chosen)
            else:
                yield TaskAnswer(list(each.candidates.values())[int(np.argmax(chosen))], logprobs=chosen)

    return list(replies())


def read_yes_no(text: str) -> bool | None:
    """The answer that a text begins with; None if it is neither yes nor no."""
    word = without_thought(text).strip().lstrip("*`\"'#").split(maxsplit=1)[:1]
    return {"yes": True, "no": False}.get(word[0].strip("*`\"'.,:;!").lower()) if word else None


def yes_no_question(template: str, places: Mapping[str, str], max_tokens: int) -> Question[bool]:
    """A question whose answer is yes or no."""
    return Question(template, places, read_yes_no, {"yes": True, "no": False}, max_tokens=max_tokens)


def number_question(
    template: str,
    places: Mapping[str, str],
    read: Callable[[str], int | None],
    numbers: Sequence[int],
    max_tokens: int,
) -> Question[int]:
    """A question whose answer is one of some numbers, such as those of lines; it is written, too."""
    words = {str(number): number for number in numbers}
    return Question(template, places, read, words, ended=True, is_written=True, max_tokens=max_tokens)
