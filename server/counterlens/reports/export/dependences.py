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


def dependences_json(found: Dependences) -> Json:
    """The dependences of one function for `--json`. The keys are a contract: added to, never renamed."""
    line = {one.id: one.line for one in found.statements}
    data = {
        (line[edge.source], line[edge.target], edge.variable, str(edge.kind))
        for edge in found.edges
        if edge.kind is not Kind.CONTROL
    }
    return {
        "function": found.function,
        "statements": [
            {"id": one.id, "line": one.line, "end_line": one.end_line, "text": one.text}
            for one in found.statements
        ],
        "control": [list(edge) for edge in sorted(found.control)],
        "data": [list(edge) for edge in sorted(data)],
    }


def inferred_json(found: Inferred) -> Json:
    """The true and the inferred dependences for `--json` and editors. Keys are added to, never renamed."""
    line = {part.statement.id: part.statement.line for part in found.subject.parts}
    document: Json = {
        "function": found.subject.dependences.function,
        "model": {
            "id": found.model.id,
            "name": found.model.name,
            "identity": found.model.identity,
            "where": found.model.where,
        },
        "method": str(found.method),
        "summary": found.summary,
        "statements": [
            {
                "id": part.statement.id,
                "line": part.statement.line,
                "end_line": part.statement.end_line,
                "text": part.statement.text,
                "depends_on": [_edge(edge, line) for edge in found.into(part.statement.id)],
                "beliefs": _beliefs(found, part.statement.id),
            }
            for part in found.subject.parts
        ],
        "edges": [_edge(edge, line) for edge in found.edges],
        "direct": {str(relation): _agreement(one) for relation, one in found.direct.items()},
        "transitive": {str(relation): _agreement(one) for relation, one in found.transitive.items()},
        "rules": {
            str(relation): {"rule": RULES[relation], **_agreement(one)}
            for relation, one in found.rules.of(found.method).items()
        },
        "where_rule_and_graph_differ": {
            str(relation): _agreement(one) for relation, one in found.differing.items()
        },
    }
    if found.asked is not None:
        document["asked"] = {
            str(relation): {
                "questions": one.asked,
                "possible": one.possible,
                "true": one.true,
                "unreadable": one.unreadable,
            }
            for relation, one in found.asked.items()
        }
        document["how"] = str(found.how)
    if found.traces is not None:
        document["traces"] = {
            str(relation): {"questions": len(traces), **asdict(TraceFigures.of(traces))}
            for relation, traces in found.traces.items()
        }
    if found.influence is not None:
        document["influence"] = {
            str(relation): [
                [None if np.isnan(value) else round(value, 4) for value in row]
                for row in found.influence.matrix(relation).tolist()
            ]
            for relation in Relation
        }
    if found.answers is not None:
        document["answers"] = {
            str(relation): {
                "text": answer.text,
                "unreadable": list(answer.unreadable),
                "impossible": [list(pair) for pair in answer.impossible],
                "repeated": answer.repeated,
                "cut_off": answer.cut_off,
            }
            for relation, answer in found.answers.items()
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


def _beliefs(found: Inferred, statement: int) -> list[Json]:
    """The strength of the model's belief that a statement depends on each other one, strongest first."""
    known = [
        {"relation": str(relation), "source": source, "belief": belief}
        for relation, pairs in found.beliefs.items()
        for (source, target), belief in pairs.items()
        if target == statement
    ]
    return sorted(known, key=lambda one: -one["belief"])


def _agreement(one: Agreement) -> Json:
    return {
        "precision": one.precision,
        "recall": one.recall,
        "f1": one.f1,
        "found": one.true_positives,
        "invented": one.false_positives,
        "missed": one.false_negatives,
    }
