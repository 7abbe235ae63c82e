"""A task of closed questions: it declares where they come from, with candidates and truth; nothing else.

Record, prompts, figures, baselines and wording follow; docs/adding-a-probe.md adds one in 40 lines.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

from counterlens.counting import plural
from counterlens.errors import SourceError
from counterlens.languages.registry import LANGUAGES
from counterlens.metrics.closed import Closed
from counterlens.metrics.figures import GroupedFigure, ListedFigure, count, rows_of, share, share_of
from counterlens.models.chat.replies import without_thought
from counterlens.probes.common_options import DEFAULT_TIMEOUT, MaxTokens, Timeout
from counterlens.probes.options import PromptedOptions
from counterlens.probes.probe import Context, Need, Target
from counterlens.probes.prompts.asking import Question, TaskAnswer
from counterlens.probes.prompts.closed_figures import BY_MODEL
from counterlens.probes.prompts.function_text import visible_part
from counterlens.probes.prompts.task import JudgedAnswer, PromptedTask
from counterlens.probes.record import Record
from counterlens.syntax.functions import find_function


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedQuestion:
    """A question with its possible answers, of which one is true.

    Attributes:
        asked: What is asked, in two or three words: figures are by this.
        question: The question, as a sentence.
        candidates: The possible answers, such as yes and no: at least two, all different.
        truth: The true one, as something that was run shows it.
        rivals: What ranks the candidates without a model, by name: a score of each.
    """

    asked: str
    question: str
    candidates: tuple[str, ...]
    truth: str
    rivals: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedAnswer(ClosedQuestion):
    """A closed question with the model's answer.

    Attributes:
        said: The model's text; empty if it gave probabilities.
        answer: The answer; None if the text has none of the candidates.
        logprobs: The log-probability of each candidate, in nats, given that one of them is the answer; empty
            if the model gives none.
    """

    said: str
    answer: str | None
    logprobs: tuple[float, ...]

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.answer == self.truth


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedRecord(Record):
    """The answers to closed questions about one function."""

    answers: tuple[ClosedAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedOptions(PromptedOptions):
    """Options of a task of closed questions."""

    max_tokens: MaxTokens = 32
    timeout: Timeout = DEFAULT_TIMEOUT


class ClosedTask(PromptedTask[ClosedOptions, ClosedRecord, Sequence[ClosedQuestion]]):
    """A task of closed questions about a program, which the model reads before each question.

    A subclass declares `id`, `title`, `source`, `main` and `closed_questions`.
    """

    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    options = ClosedOptions
    record = ClosedRecord
    asking = "asking about"
    requests = 8
    unread = "answer that is none of the candidates"
    templates: ClassVar[str] = __package__
    figures = (
        GroupedFigure[ClosedRecord, ClosedAnswer](
            "answers",
            of=lambda record: record.answers,
            by={"asked": lambda answer: answer.asked},
            columns={"n": count, "right": share(lambda answer: answer.right)},
        ),
    )
    listing = ListedFigure[ClosedRecord, ClosedAnswer](
        "questions",
        of=lambda record: record.answers,
        columns={
            "question": lambda answer: answer.question,
            "is": lambda answer: answer.truth,
            "answer": lambda answer: answer.answer,
        },
    )

    @abstractmethod
    def closed_questions(
        self, context: Context, target: Target, options: ClosedOptions
    ) -> Iterable[ClosedQuestion]:
        """The questions about a function.

        Raises:
            SourceError: there is none; the message says why.
            SandboxError, Cancelled: as the sandbox.
        """

    def questions(
        self,
        context: Context,
        target: Target,
        options: ClosedOptions,
        left_out: Counter[str],  # noqa: ARG002
    ) -> tuple[Sequence[ClosedQuestion], list[Question[str]]]:
        """Like `PromptedTask.questions`."""
        document = target.document
        program = visible_part(document, find_function(document, target.qualname))
        asked = list(self.closed_questions(context, target, options))
        if not asked:
            raise SourceError("there is no question about it")
        for each in asked:
            _require_answerable(each)
        return asked, [_question(each, program, document.language, options.max_tokens) for each in asked]

    def answered(
        self,
        context: Context,  # noqa: ARG002
        target: Target,  # noqa: ARG002
        options: ClosedOptions,  # noqa: ARG002
        facts: Sequence[ClosedQuestion],
        answers: Sequence[TaskAnswer[str]],
    ) -> ClosedRecord:
        """Like `PromptedTask.answered`."""
        return ClosedRecord(
            answers=tuple(
                ClosedAnswer(
                    asked=each.asked,
                    question=each.question,
                    candidates=each.candidates,
                    truth=each.truth,
                    rivals=each.rivals,
                    said=answer.said,
                    answer=answer.value,
                    logprobs=answer.logprobs,
                )
                for each, answer in zip(facts, answers, strict=True)
            )
        )

    def judged(self, record: ClosedRecord) -> Iterator[JudgedAnswer]:
        """Like `PromptedTask.judged`."""
        for answer in record.answers:
            right = frozenset({answer.candidates.index(answer.truth)})
            ways = {BY_MODEL: answer.logprobs, **answer.rivals} if answer.logprobs else {}
            ranked = {
                way: Closed(record.target, answer.candidates, scores, right) for way, scores in ways.items()
            }
            chance = 1 / len(answer.candidates)
            yield JudgedAnswer(answer.asked, answer.truth, answer.right, ranked, chance)

    def finding(self, records: Sequence[ClosedRecord]) -> str:
        """Like `PromptedTask.finding`."""
        right = share_of(rows_of(records, lambda record: record.answers), lambda answer: answer.right)
        return f"The model answered {right.count} of {right.n} questions right."

    def measures(self, record: ClosedRecord) -> Mapping[str, bool]:
        """Like `Probe.measures`."""
        return {"all right": all(answer.right for answer in record.answers)}


def _require_answerable(asked: ClosedQuestion) -> None:
    """Refuse a question that cannot be asked or judged: one bad question of a task ends no run.

    Raises:
        SourceError: it has not two different candidates, or no true one, or a rival without all scores.
    """
    candidates = ", ".join(asked.candidates)
    if len(set(asked.candidates)) < max(2, len(asked.candidates)):
        raise SourceError(f"the question {asked.question!r} needs two different candidates, not {candidates}")
    if asked.truth not in asked.candidates:
        raise SourceError(
            f"the true answer {asked.truth} is not among the candidates of {asked.question!r}: {candidates}"
        )
    for rival, scores in asked.rivals.items():
        if len(scores) != len(asked.candidates):
            given, due = plural(len(scores), "score"), plural(len(asked.candidates), "candidate")
            raise SourceError(f"the rival {rival!r} of {asked.question!r} has {given} for {due}")


def _question(asked: ClosedQuestion, program: str, language: str, max_tokens: int) -> Question[str]:
    """The question as one of the general template, which needs no example in a language."""
    *others, last = asked.candidates
    places = {
        "source": program,
        "question": asked.question,
        "answers": f"{', '.join(others)} or {last}",
        "comment": LANGUAGES[language].comment,
    }
    return Question(
        "closed",
        places,
        lambda text: _candidate_in(text, asked.candidates),
        {candidate: candidate for candidate in asked.candidates},
        ended=_has_common_beginnings(asked.candidates),
        max_tokens=max_tokens,
    )


def _has_common_beginnings(candidates: Sequence[str]) -> bool:
    """Whether a candidate begins with another."""
    return any(after.startswith(before) for before, after in pairwise(sorted(candidates)))


def _candidate_in(text: str, candidates: Sequence[str]) -> str | None:
    """The longest candidate that an answer begins with, whatever its case; None if it begins with none."""
    said = without_thought(text).strip().lstrip("*`\"'#").lower()
    fitting = [candidate for candidate in candidates if said.startswith(candidate.lower())]
    return max(fitting, key=len, default=None)
