"""The dependences of a function, and those that a model infers, for programs.

The keys are a contract: added to, never renamed.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from counterlens.dependence import Dependences, Kind
from counterlens.metrics.agreement import Agreement
from counterlens.metrics.traces import TraceFigures
from counterlens.probes.dependence.examined import Relation
from counterlens.probes.dependence.inferred import Inferred, InferredEdge
from counterlens.probes.dependence.rules import RULES
from counterlens.reports.export.json import Json


def dependences_json(graph: Dependences) -> Json:
    """The dependences of one function for `--json`. The keys are a contract: added to, never renamed."""
    line = {statement.id: statement.line for statement in graph.statements}
    data = {
        (line[edge.source], line[edge.target], edge.variable, str(edge.kind))
        for edge in graph.edges
        if edge.kind is not Kind.CONTROL
    }
    return {
        "function": graph.function,
        "statements": [
            {
                "id": statement.id,
                "line": statement.line,
                "end_line": statement.end_line,
                "text": statement.text,
            }
            for statement in graph.statements
        ],
        "control": [list(edge) for edge in sorted(graph.control)],
        "data": [list(edge) for edge in sorted(data)],
    }


def inferred_json(inferred: Inferred) -> Json:
    """The true and the inferred dependences for `--json` and editors. Keys are added to, never renamed."""
    line = {part.statement.id: part.statement.line for part in inferred.subject.parts}
    document: Json = {
        "function": inferred.subject.dependences.function,
        "model": {
            "id": inferred.model.id,
            "name": inferred.model.name,
            "identity": inferred.model.identity,
            "where": inferred.model.where,
        },
        "method": str(inferred.method),
        "summary": inferred.summary,
        "statements": [
            {
                "id": part.statement.id,
                "line": part.statement.line,
                "end_line": part.statement.end_line,
                "text": part.statement.text,
                "depends_on": [_edge(edge, line) for edge in inferred.into(part.statement.id)],
                "beliefs": _beliefs(inferred, part.statement.id),
            }
            for part in inferred.subject.parts
        ],
        "edges": [_edge(edge, line) for edge in inferred.edges],
        "direct": {str(relation): _agreement(agreement) for relation, agreement in inferred.direct.items()},
        "transitive": {
            str(relation): _agreement(agreement) for relation, agreement in inferred.transitive.items()
        },
        "rules": {
            str(relation): {"rule": RULES[relation], **_agreement(agreement)}
            for relation, agreement in inferred.rules.of(inferred.method).items()
        },
        "where_rule_and_graph_differ": {
            str(relation): _agreement(agreement) for relation, agreement in inferred.differing.items()
        },
    }
    if inferred.asked is not None:
        document["asked"] = {
            str(relation): {
                "questions": counts.asked,
                "possible": counts.possible,
                "true": counts.true,
                "unreadable": counts.unreadable,
            }
            for relation, counts in inferred.asked.items()
        }
        document["how"] = str(inferred.how)
    if inferred.traces is not None:
        document["traces"] = {
            str(relation): {"questions": len(traces), **asdict(TraceFigures.of(traces))}
            for relation, traces in inferred.traces.items()
        }
    if inferred.influence is not None:
        document["influence"] = {
            str(relation): [
                [None if np.isnan(value) else round(value, 4) for value in row]
                for row in inferred.influence.matrix(relation).tolist()
            ]
            for relation in Relation
        }
    if inferred.answers is not None:
        document["answers"] = {
            str(relation): {
                "text": answer.text,
                "unreadable": list(answer.unreadable),
                "impossible": [list(pair) for pair in answer.impossible],
                "repeated": answer.repeated,
                "cut_off": answer.cut_off,
            }
            for relation, answer in inferred.answers.items()
        }
    return document


def _edge(edge: InferredEdge, line: dict[int, int]) -> Json:
    return {
        "relation": str(edge.relation),
        "source": edge.source,
        "target": edge.target,
        "source_line": line[edge.source],
        "target_line": line[edge.target],
        "variables": list(edge.variables),
        "status": str(edge.status),
        "belief": edge.belief,
        "reached": edge.reached,
        "ruled": edge.ruled,
    }


def _beliefs(inferred: Inferred, statement: int) -> list[Json]:
    """The strength of the model's belief that a statement depends on each other one, strongest first."""
    beliefs = [
        {"relation": str(relation), "source": source, "belief": belief}
        for relation, pairs in inferred.beliefs.items()
        for (source, target), belief in pairs.items()
        if target == statement
    ]
    return sorted(beliefs, key=lambda entry: -entry["belief"])


def _agreement(agreement: Agreement) -> Json:
    return {
        "precision": agreement.precision,
        "recall": agreement.recall,
        "f1": agreement.f1,
        "found": agreement.true_positives,
        "invented": agreement.false_positives,
        "missed": agreement.false_negatives,
    }
