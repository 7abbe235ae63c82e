"""One function, what is true of it, and what a model takes for true: what every face shows of dependence."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from threading import Event

from counterlens.dependence import Dependences, Kind
from counterlens.errors import Cancelled
from counterlens.metrics.agreement import Agreement, closure
from counterlens.metrics.traces import Trace
from counterlens.models.base import Model, ModelInfo
from counterlens.probes.inference.influence import THRESHOLDS, Influence, Report, infer_influence
from counterlens.probes.inference.one_by_one import Answers, Asking, by_core, by_pairs, by_trace
from counterlens.probes.inference.parsing import Answer
from counterlens.probes.inference.prompted import ask_all
from counterlens.probes.inference.prompts import Relation
from counterlens.probes.inference.sampling import Asked
from counterlens.probes.inference.subject import Subject
from counterlens.probes.inference.yes_no import How

Pair = tuple[int, int]


class Method(StrEnum):
    """How a model's dependences are found out."""

    INTERVENTIONAL = "interventional"
    PROMPTED = "prompted"
    PAIRWISE = "pairwise"
    CORE = "core"
    TRACE = "trace"

    @property
    def about_chains(self) -> bool:
        """Whether it asks about chains of dependences, not about direct ones."""
        return self in {Method.CORE, Method.TRACE}


_ONE_BY_ONE = {Method.PAIRWISE: by_pairs, Method.CORE: by_core, Method.TRACE: by_trace}


class Status(StrEnum):
    """What the model makes of an edge."""

    FOUND = "found"
    MISSED = "missed"
    INVENTED = "invented"


@dataclass(frozen=True, slots=True)
class InferredEdge:
    """An edge that is true, that the model takes for true, or both.

    Attributes:
        relation: Control or data.
        source: The id of the statement that is depended on.
        target: The id of the statement that depends on it.
        variables: The variables of a true data dependence.
        status: Whether it was found.
        belief: How strongly the model holds it: nats of influence, or the probability of yes; None where it
            was not asked about this pair.
        reached: Whether the method could have found it: no influence is seen on what stands before, and not
            every pair is asked about.
    """

    relation: Relation
    source: int
    target: int
    variables: tuple[str, ...]
    status: Status
    belief: float | None
    reached: bool


@dataclass(frozen=True, slots=True)
class Inferred:
    """What a model takes the dependences of a function to be.

    Attributes:
        subject: The function, with its statements and true edges.
        model: Whose beliefs they are.
        method: How they were found out.
        edges: All edges that are true or believed, by relation, source and target.
        beliefs: How strongly each pair is held that the model was examined on.
        direct: Agreement with the true edges, by relation, among the pairs that were asked about; zeros where
            the method asks about chains, too.
        transitive: Agreement of the transitive closures; zeros where a part of the pairs was asked about.
            Of CoRe's questions, agreement over the questions.
        answers: What it wrote, where it was asked for all pairs.
        influence: The influences, where they were measured.
        asked: How many questions were asked, where they were asked one by one.
        how: How they were answered.
        scored: Of each of these questions, the probability of yes, and whether yes is true.
        traces: What is right about the traces, where they were asked for: one for each of these questions
            to which the answer is yes.
    """

    subject: Subject
    model: ModelInfo
    method: Method
    edges: tuple[InferredEdge, ...]
    beliefs: Mapping[Relation, Mapping[Pair, float]]
    direct: Mapping[Relation, Agreement]
    transitive: Mapping[Relation, Agreement]
    answers: Mapping[Relation, Answer] | None = None
    influence: Influence | None = None
    asked: Mapping[Relation, Asked] | None = None
    how: How | None = None
    scored: Mapping[Relation, Sequence[tuple[float, bool]]] | None = None
    traces: Mapping[Relation, Sequence[Trace]] | None = None

    def into(self, statement: int) -> list[InferredEdge]:
        """The edges that lead into a statement."""
        return [edge for edge in self.edges if edge.target == statement]

    @property
    def summary(self) -> str:
        """One line, for a code lens: `control F1 0.55, data F1 0.07`."""
        shown = self.transitive if self.method.about_chains else self.direct
        figures = {relation: shown[relation].f1 for relation in Relation}
        return ", ".join(
            f"{relation} F1 {'--' if value is None else f'{value:.2f}'}"
            for relation, value in figures.items()
        )


def infer(
    model: Model,
    dependences: Dependences,
    method: Method = Method.INTERVENTIONAL,
    *,
    threshold: Mapping[Relation, float] | None = None,
    limit: int | None = None,
    seed: int = 0,
    cancel: Event | None = None,
    report: Report | None = None,
) -> Inferred:
    """Find out what a model takes the dependences of a function to be, and compare.

    Args:
        model: Who is examined.
        dependences: The function.
        method: How.
        threshold: From which influence on a pair counts as an edge, in nats.
        limit: At most so many questions of each relation where they are asked one by one: as many with the
            answer yes as with no, as far as there are. None for all.
        seed: Of that sample.
        cancel: Set it to give up.
        report: Called with what is being done.

    Raises:
        SourceError: the function has no statements, or too many.
        ModelError: the model cannot answer, or gives no token probabilities where they are needed.
        Cancelled: `cancel` was set.
    """
    subject = Subject.of(dependences)
    if method is Method.INTERVENTIONAL:
        influence = infer_influence(model, subject, cancel=cancel, report=report)
        least = {**THRESHOLDS, **(threshold or {})}
        found = {relation: influence.edges(relation, least[relation]) for relation in Relation}
        beliefs = {relation: influence.scores(relation) for relation in Relation}
        return compare(subject, model.info, method, found, beliefs, influence=influence)
    if method is Method.PROMPTED:
        answers: dict[Relation, Answer] = {}
        for done, relation in enumerate(Relation):
            if cancel is not None and cancel.is_set():
                raise Cancelled
            if report:
                report(f"asking for {relation} dependences", done, len(Relation))
            (answers[relation],) = ask_all(model, [subject], relation, cancel=cancel)
        found = {relation: set(answer.pairs) for relation, answer in answers.items()}
        return compare(subject, model.info, method, found, {one: {} for one in Relation}, answers=answers)
    asking = Asking(limit, seed, cancel, report)
    said = _ONE_BY_ONE[method](model, subject, asking)
    return compare(subject, model.info, method, said.found, said.beliefs, said=said)


def true_edges(subject: Subject, relation: Relation) -> dict[Pair, tuple[str, ...]]:
    """The true edges between statements, with the variables of data dependences."""
    found: dict[Pair, set[str]] = {}
    for edge in subject.dependences.edges:
        if (edge.kind is Kind.CONTROL) == (relation is Relation.CONTROL):
            found.setdefault((edge.source, edge.target), set()).update({edge.variable} - {""})
    return {pair: tuple(sorted(names)) for pair, names in sorted(found.items())}


def compare(
    subject: Subject,
    model: ModelInfo,
    method: Method,
    found: Mapping[Relation, set[Pair]],
    beliefs: Mapping[Relation, Mapping[Pair, float]],
    *,
    answers: Mapping[Relation, Answer] | None = None,
    influence: Influence | None = None,
    said: Answers | None = None,
) -> Inferred:
    """Set what a model found beside what is true."""
    edges: list[InferredEdge] = []
    direct, transitive = {}, {}
    for relation in Relation:
        true = true_edges(subject, relation)
        reached: Container[Pair] = beliefs[relation] if influence else _ALL
        direct[relation] = Agreement.of(found[relation], true.keys())
        transitive[relation] = Agreement.of(closure(found[relation]), closure(true))
        if said and method.about_chains:  # it asks about chains, so chains are true, too
            direct[relation], transitive[relation] = Agreement(), said.agreement[relation]
            true |= dict.fromkeys(sorted(said.true[relation] - true.keys()), ())
            reached = said.pairs[relation]
        elif said and not said.asked[relation].complete:
            direct[relation], transitive[relation] = said.agreement[relation], Agreement()
            reached = said.pairs[relation]
        for pair in sorted(found[relation] | true.keys()):
            status = Status.FOUND if pair in found[relation] else Status.MISSED
            edges.append(
                InferredEdge(
                    relation,
                    *pair,
                    variables=true.get(pair, ()),
                    status=status if pair in true else Status.INVENTED,
                    belief=beliefs[relation].get(pair),
                    reached=pair in reached,
                )
            )
    return Inferred(
        subject,
        model,
        method,
        tuple(edges),
        beliefs,
        direct,
        transitive,
        answers,
        influence,
        said.asked if said else None,
        said.how if said else None,
        said.scored if said else None,
        said.traces or None if said else None,
    )


class _All(Container[Pair]):
    """Every pair."""

    def __contains__(self, pair: object) -> bool:
        return True


_ALL = _All()
