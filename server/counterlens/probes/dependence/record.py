"""The result of the dependence probe on one function, and figures over functions beside those of a rule.

Rules that use no model: the baselines of dependence inference.

Control: the innermost header around a statement, by indentation. Data: a recurring name, which one statement
binds and a later one reads. `docs/results/influence.md` shows their figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from counterlens.metrics.agreement import Agreement, corpus
from counterlens.metrics.bootstrap import Estimate, bootstrap
from counterlens.metrics.table import Cell, Table
from counterlens.metrics.traces import Trace, TraceFigures
from counterlens.probes.dependence.core_answers import CoreAnswer
from counterlens.probes.dependence.examined import Relation
from counterlens.probes.dependence.inferred import Closures, InferenceMethod, Inferred, InferredEdge
from counterlens.probes.dependence.rules import RULES
from counterlens.probes.record import Record

_CLOSURES = ("direct", "transitive")


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


def by_function(records: Sequence[DependenceRecord]) -> Table:
    """F1 of each function, of the model and of the rule."""
    rows = tuple(
        (
            record.target or record.function,
            record.statements,
            *(
                closures.of(record.method)[relation].f1
                for relation in Relation
                for closures in (record.agreement, record.rules)
            ),
        )
        for record in records
    )
    figures = (f"{relation} F1{of}" for relation in Relation for of in ("", f", {RULES[relation]}"))
    return Table("functions", ("function", "statements", *figures), rows)


def over_functions(records: Sequence[DependenceRecord], seed: int) -> Table:
    """Precision, recall and F1 of the model."""
    rows: list[tuple[Cell, ...]] = []
    for relation in Relation:
        for closed in _CLOSURES:
            counts = [_of(record.agreement, closed)[relation] for record in records]
            if sum(counts, Agreement()) == Agreement():
                continue  # no question was about this relation
            pooled = corpus(counts, seed=seed)
            for mean, figures in (("micro", pooled.micro), ("macro", pooled.macro)):
                rows.append((f"{relation}, {closed}, {mean}", *figures.values()))
    return Table(
        "agreement with the dependence graph",
        ("", "precision", "recall", "F1"),
        tuple(rows),
        "micro: equal weight for all edges; macro: equal weight for all functions. Intervals: functions "
        "resampled.",
    )


def rule_comparison(records: Sequence[DependenceRecord], seed: int) -> Table:
    """F1 of the model, of the rule on the same functions and pairs, and of the model if the rule errs."""
    rows: list[tuple[Cell, ...]] = []
    for relation in Relation:
        for closed in _CLOSURES:
            both = [
                (_of(record.agreement, closed)[relation], _of(record.rules, closed)[relation])
                for record in records
            ]
            if all(model == rule == Agreement() for model, rule in both):
                continue
            asked_so = closed == ("transitive" if records[0].method.about_chains else "direct")
            rows.append(
                (
                    f"{relation}, {closed}",
                    _f1([model for model, _ in both], seed),
                    RULES[relation],
                    _f1([rule for _, rule in both], seed),
                    bootstrap(both, _difference, seed=seed),
                    _f1([record.differing[relation] for record in records], seed) if asked_so else None,
                )
            )
    return Table(
        "compared with rules without a model",
        ("", "model F1", "rule", "rule F1", "difference", "model F1 where rule and graph differ"),
        tuple(rows),
        "indentation: the innermost branch or loop around a statement; recurring names: a later statement "
        "reads a name that an earlier one binds; both on the same pairs as the model. On pairs where rule "
        "and graph differ, the rule's F1 is 0. Micro F1; intervals: functions resampled.",
    )


def of_traces(records: Sequence[DependenceRecord], seed: int) -> Table:
    """The correct parts of the traces."""
    rows: list[tuple[Cell, ...]] = []
    for relation in Relation:
        functions = [traces for record in records if (traces := record.traces.get(relation))]

        def figure(name: str, functions: list[tuple[Trace, ...]] = functions) -> Estimate:
            def pooled(chosen: Sequence[Sequence[Trace]]) -> float | None:
                value = getattr(TraceFigures.of([trace for traces in chosen for trace in traces]), name)
                return None if value is None else float(value)

            return bootstrap(functions, pooled, seed=seed)

        asked = sum(len(traces) for traces in functions)
        rows.append((str(relation), asked, *(figure(field.name) for field in fields(TraceFigures))))
    return Table(
        "traces of steps, for pairs with a chain",
        ("", "chains", "correct trace rate", "from end to end", "steps right", "steps false", "left out"),
        tuple(rows),
        "correct: every step is a direct dependence (CoRe); from end to end: the steps also lead from one "
        "node of the question to the other; left out: nodes of a chain. Intervals: functions resampled.",
    )


def _of(closures: Closures, closed: str) -> dict[Relation, Agreement]:
    return dict(closures.direct if closed == "direct" else closures.transitive)


def _f1(counts: Sequence[Agreement], seed: int) -> Estimate:
    return bootstrap(counts, lambda chosen: sum(chosen, Agreement()).f1, seed=seed)


def _difference(both: Sequence[tuple[Agreement, Agreement]]) -> float | None:
    model = sum((counts for counts, _ in both), Agreement()).f1
    rule = sum((counts for _, counts in both), Agreement()).f1
    return None if model is None or rule is None else model - rule
