"""The figures of dependence inference over functions, each beside that of a rule that uses no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from counterlens.metrics.agreement import Agreement, corpus
from counterlens.metrics.bootstrap import Estimate, bootstrap
from counterlens.metrics.table import Cell, Table
from counterlens.metrics.traces import Trace, TraceFigures
from counterlens.probes.dependence.examined import Relation
from counterlens.probes.dependence.inferred import Closures
from counterlens.probes.dependence.record import DependenceRecord
from counterlens.probes.dependence.rules import RULES

_CLOSURES = ("direct", "transitive")


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
