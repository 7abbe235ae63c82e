"""The result of the dependence probe on one function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from counterlens.metrics.agreement import Agreement
from counterlens.metrics.traces import Trace
from counterlens.probes.dependence.core_answers import CoreAnswer
from counterlens.probes.dependence.examined import Relation
from counterlens.probes.dependence.inferred import Closures, InferenceMethod, Inferred, InferredEdge
from counterlens.probes.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class DependenceRecord(Record):
    """The dependences of one function by the model, by the dependence graph, and by a rule.

    Attributes:
        method: The method by which the model's dependences were inferred.
        summary: One line: `control F1 0.55, data F1 0.07`.
        statements: Number of statements of the function.
        rules: The agreement of the rules that use no model, on the same pairs.
        differing: The model's agreement on the pairs about which rule and graph differ.
        edges: All true or inferred edges.
        traces: The correct parts of the traces, by relation, if they were asked for.
        answers: The answers to CoRe's questions, by its protocol.
        pairs_asked: Number of pairs that the questions were about, by relation, if the model was prompted.
        copied: Whether its list of pairs is that of the prompt's worked example, by relation.
    """

    method: InferenceMethod
    summary: str
    statements: int
    agreement: Closures
    rules: Closures
    differing: Mapping[Relation, Agreement]
    edges: tuple[InferredEdge, ...]
    traces: Mapping[Relation, tuple[Trace, ...]] = field(default_factory=dict)
    answers: tuple[CoreAnswer, ...] = ()
    pairs_asked: Mapping[Relation, int] = field(default_factory=dict)
    copied: Mapping[Relation, bool] = field(default_factory=dict)


def dependence_record(inferred: Inferred) -> DependenceRecord:
    """The record of the inferred dependences; unreadable and unasked pairs are left out."""
    left_out: dict[str, int] = {}
    asked: dict[Relation, int] = {}
    copied: dict[Relation, bool] = {}
    statements = len(inferred.subject.parts)
    for relation, answer in (inferred.answers or {}).items():
        unread = len(answer.unreadable) + len(answer.impossible)
        left_out[f"{relation}: pieces of unreadable answers"] = unread
        if answer.repeated:
            left_out[f"{relation}: repetitions of a pair"] = answer.repeated
        asked[relation], copied[relation] = statements * statements, answer.copied
    for relation, counts in (inferred.asked or {}).items():
        left_out[f"{relation}: pairs that were not asked about"] = counts.possible - counts.asked
        left_out[f"{relation}: unreadable answers"] = counts.unreadable
        asked[relation] = counts.asked
    return DependenceRecord(
        left_out=left_out,
        method=inferred.method,
        summary=inferred.summary,
        statements=statements,
        agreement=inferred.agreement,
        rules=inferred.rules,
        differing=inferred.differing,
        edges=inferred.edges,
        traces={relation: tuple(traces) for relation, traces in (inferred.traces or {}).items()},
        pairs_asked=asked,
        copied=copied,
    )
