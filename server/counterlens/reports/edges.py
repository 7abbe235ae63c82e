"""The dependences of a function for display: each edge once, with the model's view in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from counterlens.counting import plural
from counterlens.dependence import Dependences, Kind, Statement
from counterlens.metrics.agreement import Agreement
from counterlens.metrics.traces import Trace
from counterlens.probes.dependence.examined import Relation, edges_of, require_statements
from counterlens.probes.dependence.inferred import EdgeStatus, InferenceMethod, Inferred
from counterlens.probes.dependence.pairwise import question_counts
from counterlens.probes.dependence.rules import RULES

_HOW = {
    InferenceMethod.INTERVENTIONAL: (
        "Each statement was changed: an edge counts as inferred if the model's expectation of a later "
        "statement changes, too."
    ),
    InferenceMethod.PROMPTED: "The model was asked for all pairs at once.",
    InferenceMethod.PAIRWISE: "The model was asked about one pair at a time.",
    InferenceMethod.CORE: "The model was asked CoRe's question for one pair at a time; chains count.",
    InferenceMethod.TRACE: "The model was asked CoRe's question for one pair at a time, and for the chain.",
}


@dataclass(frozen=True, slots=True)
class ShownEdge:
    """One edge between two statements.

    Attributes:
        relation: Control or data.
        source: The statement on which the other depends.
        target: The dependent statement.
        variables: The variables of a true data dependence.
        outcome: For a control dependence, the outcome of the branch: `true`, `false`, both, or empty.
        status: The model's view; None if no model was asked.
        belief: The strength of that view, as in `InferredEdge`.
        reached: Whether the method can find it.
        ruled: Whether the rule without a model has it, too.
    """

    relation: Relation
    source: Statement
    target: Statement
    variables: tuple[str, ...]
    outcome: str
    status: EdgeStatus | None = None
    belief: float | None = None
    reached: bool = True
    ruled: bool = False


def shown_edges(graph: Dependences, inferred: Inferred | None = None) -> list[ShownEdge]:
    """The true edges of a function; with a model's view also the edges that it invents.

    Raises:
        SourceError: the function is empty.
    """
    outcomes: dict[tuple[int, int], set[str]] = {}
    for edge in graph.edges:
        if edge.kind is Kind.CONTROL and edge.outcome:
            outcomes.setdefault((edge.source, edge.target), set()).add(edge.outcome)
    at = graph.statements
    if inferred is not None:
        return [
            ShownEdge(
                inferred_edge.relation,
                at[inferred_edge.source],
                at[inferred_edge.target],
                inferred_edge.variables,
                _outcome(inferred_edge.relation, outcomes.get((inferred_edge.source, inferred_edge.target))),
                inferred_edge.status,
                inferred_edge.belief,
                inferred_edge.reached,
                inferred_edge.ruled,
            )
            for inferred_edge in inferred.edges
        ]
    require_statements(graph)
    return [
        ShownEdge(relation, at[source], at[target], names, _outcome(relation, outcomes.get((source, target))))
        for relation in Relation
        for (source, target), names in edges_of(graph, relation).items()
    ]


def phrase(edge: ShownEdge, shift: int = 0) -> str:
    """Describe one edge for its target, without the model's view; code is in backquotes.

    Args:
        shift: Number of lines by which the function has moved down.
    """
    line = edge.source.line + shift
    if edge.relation is Relation.CONTROL:
        how = f" ({edge.outcome})" if edge.outcome else ""
        return f"decided by line {line}{how}"
    names = ", ".join(f"`{name}`" for name in edge.variables)
    return f"{names or 'a value'} from line {line}"


def edge_status(edge: ShownEdge, method: InferenceMethod | None) -> str:
    """The view of the model and of the rule on an edge; empty if no model was asked.

    For example `found (+2.31 nats); indentation: missed`.
    """
    if edge.status is None:
        return ""
    if not edge.reached and edge.status is EdgeStatus.MISSED:
        return "not measurable" if method is InferenceMethod.INTERVENTIONAL else "not asked about"
    true = edge.status is not EdgeStatus.INVENTED
    by_rule = ("found" if true else "invented") if edge.ruled else ("missed" if true else "no")
    rule = "indentation" if edge.relation is Relation.CONTROL else "recurring names"
    return f"{_model_status(edge, method)}; {rule}: {by_rule}"


def _model_status(edge: ShownEdge, method: InferenceMethod | None) -> str:
    status = {
        EdgeStatus.FOUND: "found",
        EdgeStatus.MISSED: "missed",
        EdgeStatus.INVENTED: "invented",
    }[edge.status or EdgeStatus.MISSED]
    if edge.belief is None:
        return status
    if method is InferenceMethod.INTERVENTIONAL:
        return f"{status} ({edge.belief:+.2f} nats)"
    return f"{status} (yes {100 * edge.belief:.0f} %)"


def overview(graph: Dependences, inferred: Inferred | None = None) -> str:
    """Describe the dependences, and the share that the model shows, in a few sentences."""
    edges = shown_edges(graph, inferred)
    true = [edge for edge in edges if edge.status is not EdgeStatus.INVENTED]
    if inferred is None:
        parts = (f"{sum(e.relation is each for e in true)} {each}" for each in Relation)
        return f"{plural(len(true), 'dependence')}: {', '.join(parts)}."
    shown = inferred.transitive if inferred.method.about_chains else inferred.direct
    said = [
        _agreement(relation, shown[relation], inferred.model.name)
        for relation in Relation
        if shown[relation] != Agreement()
    ]
    said += rule_sentences(inferred)
    said.append(_HOW[inferred.method])
    said += asked_words(inferred)
    beyond = sum(not edge.reached and edge.status is EdgeStatus.MISSED for edge in edges)
    if beyond and inferred.method is InferenceMethod.INTERVENTIONAL:
        said.append(
            f"{beyond} of the missed edges lead backwards or from statements that cannot be changed, and are "
            "not measurable."
        )
    for relation, answer in (inferred.answers or {}).items():
        unread = len(answer.unreadable) + len(answer.impossible)
        if unread or answer.cut_off:
            cut = "; the answer was cut off at the token limit" if answer.cut_off else ""
            said.append(f"{plural(unread, 'piece')} of its answer on {relation} could not be read{cut}.")
    return " ".join(said)


def headline(dependences: Dependences, inferred: Inferred | None = None) -> str:
    """Describe the drawing in one sentence."""
    edges = shown_edges(dependences, inferred)
    true = [edge for edge in edges if edge.status is not EdgeStatus.INVENTED]
    if inferred is None:
        return overview(dependences)
    shown = sum(edge.status is EdgeStatus.FOUND for edge in true)
    invented = len(edges) - len(true)
    beside = f", and {invented} that {'does' if invented == 1 else 'do'} not exist" if invented else ""
    return f"{inferred.model.name} shows {shown} of {plural(len(true), 'dependence')}{beside}."


def rule_sentences(inferred: Inferred) -> list[str]:
    """Compare the model with the rules without a model on the same pairs, in one sentence per rule."""
    rules = inferred.rules.of(inferred.method)
    model = inferred.agreement.of(inferred.method)
    return [
        _rule_sentence(RULES[relation], rules[relation], inferred.differing[relation], inferred.model.name)
        for relation in Relation
        if {rules[relation], model[relation]} != {Agreement()}
    ]


def _rule_sentence(rule: str, agreement: Agreement, differing: Agreement, model: str) -> str:
    true = agreement.true_positives + agreement.false_negatives
    sentence = (
        f"Without a model, {rule} shows {agreement.true_positives} of {true}, and "
        f"{agreement.false_positives} that {'does' if agreement.false_positives == 1 else 'do'} not exist"
    )
    sentence += f" (F1 {agreement.f1:.2f})" if agreement.f1 is not None else ""
    wrong = agreement.false_positives + differing.true_positives + differing.false_negatives
    if not wrong:
        return f"{sentence}: the model can add nothing."
    right = differing.true_positives + agreement.false_positives - differing.false_positives
    f1 = f" (F1 {differing.f1:.2f})" if differing.f1 is not None else ""
    return (
        f"{sentence}; of the {plural(wrong, 'pair')} where it is wrong, {model} is right about {right}{f1}."
    )


def asked_words(inferred: Inferred) -> list[str]:
    """The number of questions and of the kinds of answers; empty if there were none."""
    if inferred.asked is None or inferred.how is None:
        return []
    sentences = [f"Asked: {question_counts(inferred.asked)}.", f"{inferred.how.capitalize()}."]
    return sentences + [
        _traces(relation, traces) for relation, traces in (inferred.traces or {}).items() if traces
    ]


def _traces(relation: Relation, traces: Sequence[Trace]) -> str:
    """Describe the share of right chains."""
    whole = sum(trace.path for trace in traces)
    elsewhere = sum(trace.correct for trace in traces) - whole
    return (
        f"It traces {whole} of {plural(len(traces), f'{relation} chain')} completely without a wrong step, "
        f"and {elsewhere} with right steps that lead elsewhere."
    )


def _agreement(relation: Relation, agreement: Agreement, model: str) -> str:
    true = agreement.true_positives + agreement.false_negatives
    f1 = f" (F1 {agreement.f1:.2f})" if agreement.f1 is not None else ""
    do = "does" if agreement.false_positives == 1 else "do"
    return (
        f"{model} shows {agreement.true_positives} of {plural(true, f'{relation} dependence')}, and "
        f"{agreement.false_positives} that {do} not exist{f1}."
    )


def _outcome(relation: Relation, outcomes: set[str] | None) -> str:
    return " or ".join(sorted(outcomes or (), reverse=True)) if relation is Relation.CONTROL else ""
