"""Pairwise questions about all pairs of a function, or a balanced sample of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from counterlens.counting import plural
from counterlens.metrics.traces import Trace
from counterlens.models.base import Model
from counterlens.probes.dependence import trace_questions
from counterlens.probes.dependence.core_questions import answers
from counterlens.probes.dependence.examined import ExaminedFunction, Relation, StatementPair, true_edges
from counterlens.probes.dependence.instances import DependenceQuestion, QuestionCounts, balance, questions
from counterlens.probes.dependence.prompted import ask_pairs, every_pair
from counterlens.probes.prompts.closed import YesNo
from counterlens.progress import Steps


@dataclass(frozen=True, slots=True)
class PairAnswer:
    """The answer to one question.

    Attributes:
        said: The model's answer.
        true: Whether yes is true.
    """

    pair: StatementPair
    said: YesNo
    true: bool


@dataclass(frozen=True, slots=True)
class RelationAnswers:
    """The answers to the questions about one function, of one relation.

    Attributes:
        answered: The answers to the questions that were asked.
        possible: Number of possible questions.
        traces: The correct parts of the traces, for each question whose answer is a trace.
    """

    answered: Sequence[PairAnswer]
    possible: int
    traces: Sequence[Trace] = ()

    @property
    def found(self) -> set[StatementPair]:
        """The pairs of statements that are dependent according to the answers."""
        return {answer.pair for answer in self.answered if answer.said.yes}

    @property
    def pairs(self) -> set[StatementPair]:
        """The pairs that were asked about."""
        return {answer.pair for answer in self.answered}

    @property
    def true(self) -> set[StatementPair]:
        """The asked pairs that are dependent, in the sense of the question."""
        return {answer.pair for answer in self.answered if answer.true}

    @property
    def beliefs(self) -> dict[StatementPair, float]:
        """The probability of yes by pair, the largest if there are several questions."""
        probabilities: dict[StatementPair, float] = {}
        for answer in self.answered:
            if answer.said.probability is not None:
                probabilities[answer.pair] = max(answer.said.probability, probabilities.get(answer.pair, 0.0))
        return probabilities

    @property
    def scored(self) -> list[tuple[float, bool]]:
        """The probability of yes for each question, and whether yes is true, if there are probabilities."""
        return [
            (answer.said.probability, answer.true)
            for answer in self.answered
            if answer.said.probability is not None
        ]

    @property
    def counts(self) -> QuestionCounts:
        """The numbers of questions."""
        unread = sum(answer.said.yes is None for answer in self.answered)
        true = sum(answer.true for answer in self.answered)
        return QuestionCounts(len(self.answered), self.possible, true, unread)


def by_pairs(
    model: Model, subject: ExaminedFunction, relation: Relation, limit: int | None, seed: int, steps: Steps
) -> RelationAnswers:
    """Ask whether one statement of a pair depends directly on the other.

    Args:
        limit: Maximum questions; None for all.
        seed: Random seed of the sample.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: it was cancelled.
    """
    true, every = true_edges(subject, relation), every_pair(subject)
    chosen = balance(every, true.__contains__, limit, seed)
    answered = ask_pairs(model, subject, relation, chosen, steps)
    return RelationAnswers(
        [PairAnswer(pair, answer, pair in true) for pair, answer in answered.items()], len(every)
    )


def by_core(
    model: Model, subject: ExaminedFunction, relation: Relation, limit: int | None, seed: int, steps: Steps
) -> RelationAnswers:
    """Ask CoRe's questions: whether there is a chain between instances of variables, or lines.

    Arguments and errors as for `by_pairs`.
    """
    every = questions(subject, relation)
    chosen = balance(list(every), every.__getitem__, limit, seed)
    replies = answers(model, subject, chosen, steps)
    return RelationAnswers(
        [PairAnswer(statements(question), answer, every[question]) for question, answer in replies.items()],
        len(every),
    )


def by_trace(
    model: Model, subject: ExaminedFunction, relation: Relation, limit: int | None, seed: int, steps: Steps
) -> RelationAnswers:
    """Ask CoRe's questions with the steps of the chain; the model writes its answers.

    Arguments and errors as for `by_pairs`.
    """
    every = questions(subject, relation)
    chosen = balance(list(every), every.__getitem__, limit, seed)
    trace_answers = trace_questions.answers(model, subject, chosen, steps)
    return RelationAnswers(
        [
            PairAnswer(statements(question), YesNo(answer.yes), every[question])
            for question, answer in trace_answers.items()
        ],
        len(every),
        [answer.trace for question, answer in trace_answers.items() if every[question]],
    )


def statements(question: DependenceQuestion) -> StatementPair:
    """The statements of a question."""
    return question.source.statement, question.target.statement


def question_counts(asked: Mapping[Relation, QuestionCounts]) -> str:
    """The numbers of questions in words: `30 of 240 questions on control (15 true)`."""
    return ", ".join(
        f"{counts.asked} of {plural(counts.possible, 'question')} on {relation} ({counts.true} true"
        + (f", {plural(counts.unreadable, 'answer')} unreadable)" if counts.unreadable else ")")
        for relation, counts in asked.items()
    )
