"""The true and inferred dependences of one function, for every front end."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum

from counterlens.dependence import Dependences
from counterlens.errors import SourceError
from counterlens.languages.registry import title_of
from counterlens.metrics.agreement import Agreement, closure
from counterlens.metrics.traces import Trace
from counterlens.models.base import Model, ModelInfo
from counterlens.probes.dependence.estimators import THRESHOLDS, Influence, infer_influence
from counterlens.probes.dependence.examined import (
    EXAMINED,
    ExaminedFunction,
    Relation,
    StatementPair,
    true_edges,
)
from counterlens.probes.dependence.instances import QuestionCounts
from counterlens.probes.dependence.pairwise import RelationAnswers, by_core, by_pairs, by_trace
from counterlens.probes.dependence.prompted import ListedPairs, ask_all
from counterlens.probes.dependence.rules import RULES, pairs_by_rule
from counterlens.probes.prompts.closed import AnswerSource, how
from counterlens.progress import Steps
from counterlens.syntax.document import Document

_DirectAndTransitive = tuple[Agreement, Agreement]


class InferenceMethod(StrEnum):
    """The method by which a model's dependences are inferred."""

    INTERVENTIONAL = "interventional"
    PROMPTED = "prompted"
    PAIRWISE = "pairwise"
    CORE = "core"
    TRACE = "trace"

    @property
    def about_chains(self) -> bool:
        """Whether it asks about chains of dependences instead of direct ones."""
        return self in {InferenceMethod.CORE, InferenceMethod.TRACE}


_PAIRWISE = {
    InferenceMethod.PAIRWISE: by_pairs,
    InferenceMethod.CORE: by_core,
    InferenceMethod.TRACE: by_trace,
}


class EdgeStatus(StrEnum):
    """The model's view of an edge."""

    FOUND = "found"
    MISSED = "missed"
    INVENTED = "invented"


@dataclass(frozen=True, slots=True)
class InferredEdge:
    """An edge that is true, inferred, or both.

    Attributes:
        relation: Control or data.
        source: The id of the statement that `target` depends on.
        target: The id of the dependent statement.
        variables: The variables of a true data dependence.
        status: Whether it was found.
        belief: The strength of the model's belief: nats of influence, or the probability of yes; None if this
            pair was not asked about.
        reached: Whether the method could have found it: influence on earlier statements is not measured, and
            not every pair is asked about.
        ruled: Whether the rule that uses no model (`rules.py`) also has it.
    """

    relation: Relation
    source: int
    target: int
    variables: tuple[str, ...]
    status: EdgeStatus
    belief: float | None
    reached: bool
    ruled: bool


@dataclass(frozen=True, slots=True)
class Closures:
    """Agreement with the dependence graph, by relation.

    Attributes:
        direct: Agreement with the true edges, among the pairs that were asked about; zeros if the method asks
            about chains.
        transitive: Agreement of the transitive closures, or over CoRe's questions; zeros if only part of the
            pairs was asked about.
    """

    direct: Mapping[Relation, Agreement]
    transitive: Mapping[Relation, Agreement]

    def of(self, method: InferenceMethod) -> Mapping[Relation, Agreement]:
        """Agreement on what a method asks about: chains of dependences, or direct ones."""
        return self.transitive if method.about_chains else self.direct


@dataclass(frozen=True, slots=True)
class Inferred:
    """The dependences of a function, as inferred by a model.

    Attributes:
        subject: The function, with its statements and true edges.
        edges: All true or inferred edges, by relation, source and target.
        beliefs: The strength of the belief in each examined pair.
        agreement: The agreement of the model with the dependence graph.
        rules: The agreement of the rules of `rules.py`, on the same pairs.
        differing: The model's agreement on the pairs about which rule and graph differ.
        answers: The model's lists, if it was asked for all pairs.
        influence: The influences, if they were measured.
        asked: The numbers of questions, if they were asked one by one.
        scored: The probability of yes for each of these questions, and whether yes is true.
        traces: The correct parts of the traces, if they were asked for: one for each of these questions whose
            true answer is yes.
    """

    subject: ExaminedFunction
    model: ModelInfo
    method: InferenceMethod
    edges: tuple[InferredEdge, ...]
    beliefs: Mapping[Relation, Mapping[StatementPair, float]]
    agreement: Closures
    rules: Closures
    differing: Mapping[Relation, Agreement]
    answers: Mapping[Relation, ListedPairs] | None = None
    influence: Influence | None = None
    asked: Mapping[Relation, QuestionCounts] | None = None
    how: AnswerSource | None = None
    scored: Mapping[Relation, Sequence[tuple[float, bool]]] | None = None
    traces: Mapping[Relation, Sequence[Trace]] | None = None

    @property
    def direct(self) -> Mapping[Relation, Agreement]:
        """Agreement with the true edges."""
        return self.agreement.direct

    @property
    def transitive(self) -> Mapping[Relation, Agreement]:
        """Agreement of the transitive closures."""
        return self.agreement.transitive

    def into(self, statement: int) -> list[InferredEdge]:
        """The edges that lead into a statement."""
        return [edge for edge in self.edges if edge.target == statement]

    @property
    def summary(self) -> str:
        """One line, for a code lens: `control F1 0.55 (indentation 0.70), data F1 0.07 (recurring …`."""
        model, rules = self.agreement.of(self.method), self.rules.of(self.method)
        return ", ".join(
            f"{relation} F1 {_two_places(counts.f1)} ({RULES[relation]} {_two_places(rules[relation].f1)})"
            for relation, counts in model.items()
        )


def _two_places(value: float | None) -> str:
    return "--" if value is None else f"{value:.2f}"


def require_inferred(document: Document) -> Document:
    """The document, if its language supports this examination.

    Raises:
        SourceError: its language does not.
    """
    if document.language in EXAMINED:
        return document
    raise SourceError(
        f"a model is asked about the dependences of {EXAMINED.titles('and')} only, not of "
        f"{title_of(document.language)}",
        "The true dependences need no model",
    )


def infer(
    model: Model,
    dependences: Dependences,
    method: InferenceMethod = InferenceMethod.INTERVENTIONAL,
    *,
    threshold: Mapping[Relation, float] | None = None,
    limit: int | None = None,
    seed: int = 0,
    protocol: str = "",
    steps: Steps | None = None,
) -> Inferred:
    """Infer a model's dependences of a function, and compare them with the true ones.

    Args:
        model: The examined model.
        threshold: Minimum influence of a pair that counts as an edge, in nats; an influence of 0 or less
            never counts.
        limit: Maximum questions of each relation, if asked one by one: half of them with the answer yes, if
            possible. None for all.
        seed: Random seed of that sample.
        protocol: The protocol in whose words all pairs are asked for; empty for ours.

    Raises:
        SourceError: the function has no statements, or too many.
        ModelError: the model cannot answer, or returns no token probabilities although the method needs them.
        Cancelled: it was cancelled.
    """
    subject, steps = ExaminedFunction.of(dependences), steps or Steps()
    steps.check()
    if method is InferenceMethod.INTERVENTIONAL:
        influence = infer_influence(model, subject, steps)
        least = {**THRESHOLDS, **(threshold or {})}
        edges = {relation: influence.edges(relation, least[relation]) for relation in Relation}
        beliefs = {relation: influence.scores(relation) for relation in Relation}
        return compare(subject, model.info, method, edges, beliefs, influence=influence)
    if method is InferenceMethod.PROMPTED:
        answers = ask_all(model, subject, steps, protocol=protocol)
        edges = {relation: set(answer.pairs) for relation, answer in answers.items()}
        none = {relation: dict[StatementPair, float]() for relation in Relation}
        return compare(subject, model.info, method, edges, none, answers=answers)
    ask = _PAIRWISE[method]
    by_relation = {relation: ask(model, subject, relation, limit, seed, steps) for relation in Relation}
    source = AnswerSource.TEXT if method is InferenceMethod.TRACE else how(model, steps.cancel)
    edges = {relation: answered.found for relation, answered in by_relation.items()}
    beliefs = {relation: answered.beliefs for relation, answered in by_relation.items()}
    return compare(subject, model.info, method, edges, beliefs, by_relation=by_relation, source=source)


def compare(
    subject: ExaminedFunction,
    model: ModelInfo,
    method: InferenceMethod,
    pairs: Mapping[Relation, set[StatementPair]],
    beliefs: Mapping[Relation, Mapping[StatementPair, float]],
    *,
    answers: Mapping[Relation, ListedPairs] | None = None,
    influence: Influence | None = None,
    by_relation: Mapping[Relation, RelationAnswers] | None = None,
    source: AnswerSource | None = None,
) -> Inferred:
    """Compare a model's dependences with the true ones, and with the rules that use no model."""
    edges: list[InferredEdge] = []
    pooled: dict[Relation, _Compared] = {}
    for relation in Relation:
        true, rule = true_edges(subject, relation), pairs_by_rule(subject, relation)
        reached: Container[StatementPair] = beliefs[relation] if influence else _ALL
        if by_relation and (method.about_chains or not by_relation[relation].counts.complete):
            reached = by_relation[relation].pairs
            pooled[relation] = _of_questions(by_relation[relation], rule, chains=method.about_chains)
        else:
            pooled[relation] = _of_pairs(pairs[relation], true.keys(), rule, reached)
        if by_relation and method.about_chains:  # the questions are about chains, so chains are true, too
            rule = closure(rule)
            true |= dict.fromkeys(sorted(by_relation[relation].true - true.keys()), ())
        for pair in sorted(pairs[relation] | true.keys()):
            status = EdgeStatus.FOUND if pair in pairs[relation] else EdgeStatus.MISSED
            edges.append(
                InferredEdge(
                    relation,
                    *pair,
                    variables=true.get(pair, ()),
                    status=status if pair in true else EdgeStatus.INVENTED,
                    belief=beliefs[relation].get(pair),
                    reached=pair in reached,
                    ruled=pair in rule,
                )
            )
    return Inferred(
        subject,
        model,
        method,
        tuple(edges),
        beliefs,
        agreement=_closures({relation: compared.model for relation, compared in pooled.items()}),
        rules=_closures({relation: compared.rule for relation, compared in pooled.items()}),
        differing={relation: compared.differing for relation, compared in pooled.items()},
        answers=answers,
        influence=influence,
        asked={relation: answered.counts for relation, answered in by_relation.items()}
        if by_relation
        else None,
        how=source,
        scored={relation: answered.scored for relation, answered in by_relation.items()}
        if by_relation
        else None,
        traces={relation: answered.traces for relation, answered in by_relation.items()}
        if by_relation and method is InferenceMethod.TRACE
        else None,
    )


@dataclass(frozen=True, slots=True)
class _Compared:
    """Agreement with the graph: of the model, of the rule, and of the model if rule and graph differ."""

    model: _DirectAndTransitive
    rule: _DirectAndTransitive
    differing: Agreement


def _of_pairs(
    pairs: Set[StatementPair],
    true: Set[StatementPair],
    rule: Set[StatementPair],
    reached: Container[StatementPair],
) -> _Compared:
    """The comparison over all pairs; the rule only on pairs that the model was examined on."""
    rule = {pair for pair in rule if pair in reached}
    differing = {pair for pair in rule ^ true if pair in reached}
    return _Compared(
        (Agreement.of(pairs, true), Agreement.of(closure(pairs), closure(true))),
        (Agreement.of(rule, true), Agreement.of(closure(rule), closure(true))),
        Agreement.of(pairs & differing, true & differing),
    )


def _of_questions(answers: RelationAnswers, rule: Set[StatementPair], *, chains: bool) -> _Compared:
    """The comparison over the questions that were asked."""
    if chains:
        rule = closure(rule)
    yes = {number for number, answer in enumerate(answers.answered) if answer.said.yes}
    true = {number for number, answer in enumerate(answers.answered) if answer.true}
    ruled_so = {number for number, answer in enumerate(answers.answered) if answer.pair in rule}
    differing = ruled_so ^ true
    model, by_rule = Agreement.of(yes, true), Agreement.of(ruled_so, true)
    none = Agreement()
    return _Compared(
        (none, model) if chains else (model, none),
        (none, by_rule) if chains else (by_rule, none),
        Agreement.of(yes & differing, true & differing),
    )


def _closures(pooled: Mapping[Relation, _DirectAndTransitive]) -> Closures:
    return Closures(
        {relation: direct for relation, (direct, _) in pooled.items()},
        {relation: transitive for relation, (_, transitive) in pooled.items()},
    )


class _All(Container[StatementPair]):
    """Every pair."""

    def __contains__(self, pair: object) -> bool:
        return True


_ALL = _All()
