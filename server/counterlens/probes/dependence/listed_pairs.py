"""The protocol of EMPICA for dependence (Nguyen et al. 2024, section 5.1, RQ4, and Table 7).

A model writes a function, then gets it in a prompt, and lists all pairs of statements of which one depends on
the other. Precision, recall and F1 are means over functions. The paper does not define figures without a
denominator: here a function without a true dependence is left out, and precision is 0 if nothing is listed.
Its reference is Joern; ours is our own dependence graph.
"""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.dependence import dependences
from counterlens.metrics.agreement import Agreement
from counterlens.metrics.bootstrap import bootstrap, mean
from counterlens.metrics.table import Cell, Table
from counterlens.probes.dependence.examined import Relation
from counterlens.probes.dependence.inferred import InferenceMethod, Inferred, infer
from counterlens.probes.dependence.record import DependenceRecord
from counterlens.probes.dependence.rules import RULES
from counterlens.probes.probe import Context, Target
from counterlens.probes.robustness.programs import Code, programs
from counterlens.probes.robustness.published import EMPICA

QUESTIONS = 1 + len(Relation)
"""The number of prompts per function: one to write it, and one per relation to list the pairs."""


def list_pairs(context: Context, target: Target) -> Inferred:
    """Have the model write a function, and ask for its dependences.

    Raises:
        SourceError: the model's text is not a function, or has too many statements.
        ModelError: the model cannot answer.
        Cancelled: it was cancelled.
    """
    (program,) = programs(context, target, Code.WRITTEN)
    found = dependences(program.document.text, program.qualname, language=program.document.language)
    return infer(context.model, found, InferenceMethod.PROMPTED, protocol=EMPICA, steps=context.steps)


def table_7(records: Sequence[DependenceRecord], seed: int) -> Table:
    """Precision, recall and F1 of each relation, beside F1 of the rule that uses no model."""
    rows: list[tuple[Cell, ...]] = []
    for relation in Relation:
        both = [(record.agreement.direct[relation], record.rules.direct[relation]) for record in records]
        known = [(model, rule) for model, rule in both if model.true_positives + model.false_negatives]
        if known:
            figures = zip(*(_figures(model) for model, _ in known), strict=True)
            cells = (bootstrap(values, mean, seed=seed) for values in figures)
            rule = bootstrap([_figures(rule)[-1] for _, rule in known], mean, seed=seed)
            rows.append((str(relation), len(known), *cells, RULES[relation], rule))
    return Table(
        "listed pairs",
        ("", "functions", "precision", "recall", "F1", "rule", "rule F1"),
        tuple(rows),
        "means over functions that have such a dependence; 0 if nothing is listed. Not published: the "
        "rules, and the intervals, bootstrapped over functions",
    )


def _figures(counts: Agreement) -> tuple[float, float, float]:
    """Precision, recall and F1 of a function that has true dependences."""
    return counts.precision or 0.0, counts.recall or 0.0, counts.f1 or 0.0
