"""What the dependence probe asks and shows: its own way, that of EMPICA, and that of CoRe.

The protocol of EMPICA for dependence (Nguyen et al. 2024, section 5.1, RQ4, and Table 7).

A model writes a function, then gets it in a prompt, and lists all pairs of statements of which one depends on
the other. Precision, recall and F1 are means over functions. The paper does not define figures without a
denominator: here a function without a true dependence is left out, and precision is 0 if nothing is listed.
Its reference is Joern; ours is our own dependence graph.

Dependences without a model: the best constant answer, and a random one, beside the model's.

The constant list is the one of the true lists that has the highest F1 over all functions; the random list has
every pair with the share of true pairs. One by one, the constant answer is yes, and the random one is either
with equal chances. F1 is over all functions together, because that of one function may be undefined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from counterlens.counting import plural
from counterlens.dependence import Dependences, dependences
from counterlens.metrics.agreement import Agreement
from counterlens.metrics.bootstrap import bootstrap, mean
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import Model
from counterlens.probes.dependence import record as tables
from counterlens.probes.dependence.core_answers import CoreAnswer
from counterlens.probes.dependence.core_choices import ranked_choices
from counterlens.probes.dependence.core_figures import core_tables
from counterlens.probes.dependence.core_form import CoreForm
from counterlens.probes.dependence.estimators import CONTROL_KINDS, DATA_KINDS, looked_at
from counterlens.probes.dependence.examined import ExaminedFunction, Relation, StatementPair
from counterlens.probes.dependence.inferred import EdgeStatus, InferenceMethod, Inferred, infer
from counterlens.probes.dependence.instances import questions
from counterlens.probes.dependence.prompted import every_pair
from counterlens.probes.dependence.published import asked_of, core_right, core_summary, run_core
from counterlens.probes.dependence.reactions import texts
from counterlens.probes.dependence.record import DependenceRecord, dependence_record
from counterlens.probes.dependence.rules import RULES
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.baselines import ChanceComparison, baseline_table, share_right
from counterlens.probes.prompts.closed_figures import closed_table
from counterlens.probes.protocols import Methods
from counterlens.probes.robustness.published import EMPICA
from counterlens.probes.robustness.versions import Code, programs

if TYPE_CHECKING:
    from counterlens.probes.dependence.probe import DependenceOptions

Records = Sequence[DependenceRecord]
QUESTIONS = 1 + len(Relation)
"""The number of prompts per function: one to write it, and one per relation to list the pairs."""


class DependenceMethod:
    """The probe's own way."""

    def record(self, context: Context, target: Target, options: DependenceOptions) -> DependenceRecord:
        """Infer the dependences of a function; see `Probe.run`."""
        inferred = infer(
            context.model,
            _analysed(target),
            options.method_for(context.model, context.cancel),
            limit=options.most,
            seed=options.seed,
            steps=context.steps,
        )
        return dependence_record(inferred)

    def tables(self, records: Records, seed: int) -> tuple[Table, ...]:
        """The tables of some records."""
        drawn = [
            tables.by_function(records),
            tables.over_functions(records, seed),
            tables.rule_comparison(records, seed),
        ]
        if any(record.traces for record in records):
            drawn.append(tables.of_traces(records, seed))
        compared = baseline_table(baselines(records))
        return (*drawn, compared) if compared.rows else tuple(drawn)

    def summary(self, records: Records) -> str:
        """The result in words, without that of weak baselines."""
        parts = []
        for relation in Relation:
            total = _total(records, relation)
            rule = sum((record.rules.of(record.method)[relation] for record in records), Agreement())
            true = total.true_positives + total.false_negatives
            parts.append(
                f"It shows {total.true_positives} of {plural(true, f'{relation} dependence')}, and "
                f"{total.false_positives} that do not exist; {RULES[relation]}, without a model, "
                f"{rule.true_positives} and {rule.false_positives}."
            )
        return " ".join(parts)

    def measures(self, record: DependenceRecord) -> dict[str, bool]:
        """The yes-or-no measures of a record; see `Probe.measures`."""
        measures: dict[str, bool] = {}
        for relation in Relation:
            total = _total([record], relation)
            if total.true_positives + total.false_negatives:
                measures[f"all {relation} dependences shown"] = not total.false_negatives
                measures[f"no {relation} dependence invented"] = not total.false_positives
            if traces := record.traces.get(relation):
                measures[f"all {relation} traces right"] = all(trace.path for trace in traces)
        return measures

    def estimate(self, target: Target, options: DependenceOptions, model: Model) -> int:
        """The number of questions; see `Probe.estimate`."""
        subject, method = ExaminedFunction.of(_analysed(target)), options.method_for(model)
        if method is InferenceMethod.PROMPTED:
            return len(Relation)
        if method is InferenceMethod.INTERVENTIONAL:
            kinds = (*DATA_KINDS, *CONTROL_KINDS)
            return sum(texts(subject, part, kinds, looked_at=looked_at) for part in subject.parts)
        possible = (
            len(questions(subject, relation)) if method.about_chains else len(every_pair(subject))
            for relation in Relation
        )
        return sum(min(options.most, count) for count in possible)


class EmpicaDependence(DependenceMethod):
    """The protocol `empica`: pairs that a model lists about a function that it wrote."""

    def record(self, context: Context, target: Target, options: DependenceOptions) -> DependenceRecord:  # noqa: ARG002
        """Have the model list the pairs; see `list_pairs`."""
        return dependence_record(list_pairs(context, target))

    def tables(self, records: Records, seed: int) -> tuple[Table, ...]:
        """Table 7."""
        return (table_7(records, seed),)

    def estimate(self, target: Target, options: DependenceOptions, model: Model) -> int:  # noqa: ARG002
        """The number of questions of the paper."""
        return QUESTIONS


class CoreDependence(DependenceMethod):
    """The protocol `core`; see `published.py`."""

    def record(self, context: Context, target: Target, options: DependenceOptions) -> DependenceRecord:
        """Ask CoRe's questions."""
        return run_core(
            context.model,
            _analysed(target),
            target.name,
            target.details,
            lite=options.lite,
            limit=options.questions,
            seed=options.seed,
            max_tokens=options.max_tokens,
            steps=context.steps,
        )

    def tables(self, records: Records, seed: int) -> tuple[Table, ...]:
        """CoRe's tables, and the figures by the probabilities of the candidates."""
        chosen = closed_table(ranked_choices(records), seed=seed)
        return (*core_tables(records, seed), *([chosen] if chosen.rows else []))

    def summary(self, records: Records) -> str:
        """The answers right of each task."""
        return f"{core_summary([answer for record in records for answer in record.answers])}."

    def measures(self, record: DependenceRecord) -> dict[str, bool]:
        """Whether most answers on each task are right."""
        by_task = {task: list[CoreAnswer]() for task in dict.fromkeys(a.task for a in record.answers)}
        for answer in record.answers:
            by_task[answer.task].append(answer)
        return {
            f"majority of answers on {task.words} right": 2 * sum(map(core_right, answers)) > len(answers)
            for task, answers in by_task.items()
        }

    def estimate(self, target: Target, options: DependenceOptions, model: Model) -> int:  # noqa: ARG002
        """The number of CoRe's questions about a function."""
        subject, details = ExaminedFunction.of(_analysed(target)), target.details
        limit, seed = options.questions, options.seed
        return len(asked_of(subject, target.name, details, lite=options.lite, limit=limit, seed=seed))


METHODS = Methods(DependenceMethod(), empica=EmpicaDependence(), core=CoreDependence())


def _analysed(target: Target) -> Dependences:
    """The true dependences of a function.

    Raises:
        SourceError: its source does not parse.
    """
    return dependences(target.document.text, target.qualname, language=target.document.language)


def _total(records: Sequence[DependenceRecord], relation: Relation) -> Agreement:
    """Agreement over functions: of chains, if the method asks about them."""
    return sum((record.agreement.of(record.method)[relation] for record in records), Agreement())


def list_pairs(context: Context, target: Target) -> Inferred:
    """Have the model write a function, and ask for its dependences.

    Raises:
        SourceError: the model's text is not a function, or has too many statements.
        ModelError: the model cannot answer.
        Cancelled: it was cancelled.
    """
    (program,) = programs(context, target, Code.WRITTEN)
    graph = dependences(program.document.text, program.qualname, language=program.document.language)
    return infer(context.model, graph, InferenceMethod.PROMPTED, protocol=EMPICA, steps=context.steps)


def table_7(records: Sequence[DependenceRecord], seed: int) -> Table:
    """Precision, recall and F1 of each relation, beside F1 of the rule that uses no model."""
    rows: list[tuple[Cell, ...]] = []
    for relation in Relation:
        both = [(record.agreement.direct[relation], record.rules.direct[relation]) for record in records]
        pairs = [(model, rule) for model, rule in both if model.true_positives + model.false_negatives]
        if pairs:
            figures = zip(*(_figures(model) for model, _ in pairs), strict=True)
            cells = (bootstrap(values, mean, seed=seed) for values in figures)
            rule = bootstrap([_figures(rule)[-1] for _, rule in pairs], mean, seed=seed)
            rows.append((str(relation), len(pairs), *cells, RULES[relation], rule))
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


def baselines(records: Sequence[DependenceRecord]) -> list[ChanceComparison]:
    """F1 of each relation that the model was prompted about; of CoRe's questions the share answered right."""
    drawn = [
        _of_relation([record for record in records if relation in record.pairs_asked], relation)
        for relation in Relation
    ]
    drawn += _of_core([answer for record in records for answer in record.answers])
    return [baseline for baseline in drawn if baseline]


def _of_relation(records: Sequence[DependenceRecord], relation: Relation) -> ChanceComparison | None:
    agreements = [record.agreement.of(record.method)[relation] for record in records]
    model = sum(agreements, Agreement())
    true = model.true_positives + model.false_negatives
    if not true:
        return None
    asked = sum(record.pairs_asked[relation] for record in records)
    copied = sum(record.copied.get(relation, False) for record in records)
    if any(record.copied for record in records):  # lists of pairs
        lists = [_true_pairs(record, relation) for record in records]
        sizes = [record.statements for record in records]
        constant = max(_constant_f1(pairs, lists, sizes) for pairs in set(lists))
        chance = sum(
            len(pairs) ** 2 / record.pairs_asked[relation]
            for pairs, record in zip(lists, records, strict=True)
        )
        return ChanceComparison(
            f"{relation} F1", len(records), model.f1 or 0.0, constant, chance / true, copied
        )
    yes, either = Agreement(true, asked - true, 0), 2 * true / (2 * true + asked)
    return ChanceComparison(f"{relation} F1", asked, model.f1 or 0.0, yes.f1 or 0.0, either, copied)


def _true_pairs(record: DependenceRecord, relation: Relation) -> frozenset[StatementPair]:
    return frozenset(
        (edge.source, edge.target)
        for edge in record.edges
        if edge.relation is relation and edge.status is not EdgeStatus.INVENTED
    )


def _constant_f1(
    pairs: frozenset[StatementPair], lists: Sequence[frozenset[StatementPair]], sizes: Sequence[int]
) -> float:
    """F1 of one list for all functions; pairs of statements that a function lacks do not count."""
    counts = (
        Agreement.of({pair for pair in pairs if max(pair) < size}, true)
        for true, size in zip(lists, sizes, strict=True)
    )
    return sum(counts, Agreement()).f1 or 0.0


def _of_core(answers: Sequence[CoreAnswer]) -> list[ChanceComparison | None]:
    """Of each form: yes-or-no answers, and lists of sources that are exactly the true ones."""
    drawn = []
    for form, asked in ((CoreForm.TRACE, "yes or no"), (CoreForm.SOURCE, "all sources")):
        these = [answer for answer in answers if answer.form is form]
        truths = [(answer.true, answer.sources) for answer in these]
        copied = sum(answer.copied for answer in these)
        drawn.append(share_right(asked, truths, sum(map(core_right, these)), copied))
    return drawn
