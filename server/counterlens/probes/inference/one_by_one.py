"""Asking about one pair after the other: all of a function's, or a balanced sample of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event

from counterlens.counting import plural
from counterlens.dependence import Kind
from counterlens.metrics.agreement import Agreement
from counterlens.metrics.traces import Trace
from counterlens.models.base import Model, Progress
from counterlens.probes.inference.core_questions import answers
from counterlens.probes.inference.influence import Report
from counterlens.probes.inference.instances import questions
from counterlens.probes.inference.prompted import ask_pairs, every_pair
from counterlens.probes.inference.prompts import Relation
from counterlens.probes.inference.sampling import Asked, balanced
from counterlens.probes.inference.subject import Subject
from counterlens.probes.inference.trace_questions import answers as traced
from counterlens.probes.inference.yes_no import How, how

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Asking:
    """How much is asked, and who watches.

    Attributes:
        limit: At most so many questions of each relation; None for all.
        seed: Of the sample.
        cancel: Set it to give up.
        report: Called with what is being done.
    """

    limit: int | None = None
    seed: int = 0
    cancel: Event | None = None
    report: Report | None = None

    def progress(self, relation: Relation) -> Progress | None:
        """Tells how many questions of one relation are answered."""
        if self.report is None:
            return None
        report = self.report
        return lambda done, total: report(f"asking about {relation}", done, total)


@dataclass(slots=True)
class Answers:
    """What came of the questions about one function.

    Attributes:
        how: How they were answered.
        found: The pairs of statements that are held to be dependent.
        beliefs: The probability of yes by pair, the largest of several.
        pairs: The pairs that were asked about.
        true: Those of them that are dependent, as the question means it.
        agreement: Of the answers with what is true, question by question.
        asked: The counts.
        scored: Of each answered question, the probability of yes and whether yes is true.
        traces: Of each question to which a trace is the answer, what is right about the one that was told.
    """

    how: How
    found: dict[Relation, set[Pair]] = field(default_factory=dict)
    beliefs: dict[Relation, dict[Pair, float]] = field(default_factory=dict)
    pairs: dict[Relation, set[Pair]] = field(default_factory=dict)
    true: dict[Relation, set[Pair]] = field(default_factory=dict)
    agreement: dict[Relation, Agreement] = field(default_factory=dict)
    asked: dict[Relation, Asked] = field(default_factory=dict)
    scored: dict[Relation, list[tuple[float, bool]]] = field(default_factory=dict)
    traces: dict[Relation, list[Trace]] = field(default_factory=dict)


Question = tuple[Pair, bool | None, float | None, bool]
"""A pair of statements, the answer, the probability of yes, and whether yes is true."""


def by_pairs(model: Model, subject: Subject, asking: Asking) -> Answers:
    """Ask of pairs of statements whether one depends directly on the other.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: `asking.cancel` was set.
    """
    found = Answers(how(model, asking.cancel))
    for relation in Relation:
        true = direct(subject, relation)
        every = every_pair(subject)
        chosen = balanced(every, true.__contains__, asking.limit, asking.seed)
        votes = ask_pairs(
            model, subject, relation, chosen, cancel=asking.cancel, progress=asking.progress(relation)
        )
        said = [((v.source, v.target), v.yes, v.probability, (v.source, v.target) in true) for v in votes]
        _note(found, relation, said, len(every))
    return found


def by_core(model: Model, subject: Subject, asking: Asking) -> Answers:
    """Ask CoRe's questions: of instances of variables and of lines, whether a chain leads there.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: `asking.cancel` was set.
    """
    found = Answers(how(model, asking.cancel))
    for relation in Relation:
        every = questions(subject, relation)
        chosen = balanced(list(every), every.__getitem__, asking.limit, asking.seed)
        said = answers(model, subject, chosen, cancel=asking.cancel, progress=asking.progress(relation))
        _note(
            found,
            relation,
            [
                ((one.source.statement, one.target.statement), answer.yes, answer.probability, every[one])
                for one, answer in said.items()
            ],
            len(every),
        )
    return found


def by_trace(model: Model, subject: Subject, asking: Asking) -> Answers:
    """Ask CoRe's questions, and for the steps of the chain; the model writes its answers.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: `asking.cancel` was set.
    """
    found = Answers(How.TEXT)
    for relation in Relation:
        every = questions(subject, relation)
        chosen = balanced(list(every), every.__getitem__, asking.limit, asking.seed)
        said = traced(model, subject, chosen, cancel=asking.cancel, progress=asking.progress(relation))
        answered = [
            ((one.source.statement, one.target.statement), told.yes, None, every[one])
            for one, told in said.items()
        ]
        _note(found, relation, answered, len(every))
        found.traces[relation] = [told.trace for one, told in said.items() if every[one]]
    return found


def direct(subject: Subject, relation: Relation) -> set[Pair]:
    """The true edges between statements."""
    return {
        (edge.source, edge.target)
        for edge in subject.dependences.edges
        if (edge.kind is Kind.CONTROL) == (relation is Relation.CONTROL)
    }


def counted(asked: Mapping[Relation, Asked]) -> str:
    """What was asked, in words: `30 of 240 questions on control (15 true)`."""
    return ", ".join(
        f"{one.asked} of {plural(one.possible, 'question')} on {relation} ({one.true} true"
        + (f", {plural(one.unreadable, 'answer')} unreadable)" if one.unreadable else ")")
        for relation, one in asked.items()
    )


def _note(found: Answers, relation: Relation, said: Sequence[Question], possible: int) -> None:
    """Keep the answers to the questions of one relation."""
    found.found[relation] = {pair for pair, yes, _, _ in said if yes}
    found.pairs[relation] = {pair for pair, _, _, _ in said}
    found.true[relation] = {pair for pair, _, _, true in said if true}
    beliefs = found.beliefs.setdefault(relation, {})
    for pair, _, probability, _ in said:
        if probability is not None:
            beliefs[pair] = max(probability, beliefs.get(pair, 0.0))
    yes = {i for i, (_, answer, _, _) in enumerate(said) if answer}
    true = {i for i, (_, _, _, is_true) in enumerate(said) if is_true}
    found.agreement[relation] = Agreement.of(yes, true)
    unread = sum(answer is None for _, answer, _, _ in said)
    found.asked[relation] = Asked(len(said), possible, len(true), unread)
    found.scored[relation] = [(p, is_true) for _, _, p, is_true in said if p is not None]
