"""The dependence probe (Nguyen et al. 2024): the dependences that the model infers.

The truth is the dependence graph. Dependences are inferred from the change of token probabilities after a
statement is changed, if the model returns them; else the model is prompted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Annotated, Any, ClassVar

from counterlens.counting import plural
from counterlens.dependence import Dependences, dependences
from counterlens.metrics.agreement import Agreement
from counterlens.metrics.table import Table
from counterlens.models.base import Capability, Model
from counterlens.probes.dependence import tables
from counterlens.probes.dependence.core_figures import core_tables
from counterlens.probes.dependence.core_replies import ANSWER_TOKENS
from counterlens.probes.dependence.estimators import CONTROL_KINDS, DATA_KINDS, looked_at
from counterlens.probes.dependence.examined import ExaminedFunction, Relation
from counterlens.probes.dependence.inferred import InferenceMethod, infer
from counterlens.probes.dependence.instances import questions
from counterlens.probes.dependence.listed_pairs import QUESTIONS, list_pairs, table_7
from counterlens.probes.dependence.prompted import every_pair
from counterlens.probes.dependence.published import CORE, asked_of, core_right, core_summary, run_core
from counterlens.probes.dependence.reactions import texts
from counterlens.probes.dependence.record import DependenceRecord, dependence_record
from counterlens.probes.dependence.rules import RULES
from counterlens.probes.dependence.sampling import MOST_QUESTIONS
from counterlens.probes.dependence.without_model import baselines
from counterlens.probes.options import ProbeOptions, option, protocols
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.prompts.baselines import baseline_table, first_words
from counterlens.probes.robustness.published import EMPICA


@dataclass(frozen=True, slots=True, kw_only=True)
class DependenceOptions(ProbeOptions):
    """Options of the dependence probe."""

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        CORE: {"method": InferenceMethod.TRACE},
        EMPICA: {
            "method": InferenceMethod.PROMPTED,
            "questions": None,
            "lite": False,
            "max_tokens": ANSWER_TOKENS,
        },
    }

    method: Annotated[
        InferenceMethod | None,
        option(
            "How to infer dependences. Default: interventional if the model returns token probabilities, "
            "else prompted."
        ),
    ] = None
    questions: Annotated[
        int | None,
        option(
            "Maximum number of pairwise questions per relation and function: a "
            f"sample, half of it true. Default: {MOST_QUESTIONS}; with --protocol core, all of CoRe's own.",
            metavar="N",
            low=2,
            high=10_000,
        ),
    ] = None
    lite: Annotated[bool, option("Only the questions of CoRe Lite, with --protocol core.")] = False
    max_tokens: Annotated[
        int,
        option(
            "Token limit for one answer with --protocol core, reasoning included.",
            metavar="N",
            low=1,
            high=65_536,
        ),
    ] = ANSWER_TOKENS
    protocol: Annotated[str | None, protocols(CORE, EMPICA)] = None

    @property
    def most(self) -> int:
        """Maximum of our own questions per relation and function."""
        return MOST_QUESTIONS if self.questions is None else self.questions

    def method_for(self, model: Model, cancel: Event | None = None) -> InferenceMethod:
        """The method used for a model."""
        if self.method is not None:
            return self.method
        scores = model.offers(Capability.SCORE, cancel=cancel)
        return InferenceMethod.INTERVENTIONAL if scores else InferenceMethod.PROMPTED


class DependenceProbe(Probe[DependenceOptions, DependenceRecord]):
    """A model's dependences, compared with the dependence graph and with rules that use no model."""

    id = "dependence"
    title = "which statements does it think depend on which?"
    source = Source("Nguyen et al. 2024", "section 5.1, RQ4; core and trace: Xie et al. 2025 (CoRe)")
    needs = frozenset[Need]()
    options = DependenceOptions
    record = DependenceRecord

    def run(self, context: Context, target: Target, options: DependenceOptions) -> DependenceRecord:
        """Like `Probe.run`."""
        if options.chosen_protocol == EMPICA:
            return dependence_record(list_pairs(context, target))
        found = _analysed(target)
        if options.chosen_protocol == CORE:
            return run_core(
                context.model,
                found,
                target.name,
                target.details,
                lite=options.lite,
                limit=options.questions,
                seed=options.seed,
                max_tokens=options.max_tokens,
                steps=context.steps,
            )
        inferred = infer(
            context.model,
            found,
            options.method_for(context.model, context.cancel),
            limit=options.most,
            seed=options.seed,
            steps=context.steps,
        )
        return dependence_record(inferred)

    def tables(self, records: Sequence[DependenceRecord], *, seed: int) -> tuple[Table, ...]:
        """Like `Probe.tables`."""
        if records[0].protocol == EMPICA:
            return (table_7(records, seed),)
        if records[0].protocol == CORE:
            return core_tables([record.answers for record in records if record.answers], seed)
        drawn = [
            tables.by_function(records),
            tables.over_functions(records, seed),
            tables.rule_comparison(records, seed),
        ]
        if any(record.traces for record in records):
            drawn.append(tables.of_traces(records, seed))
        compared = baseline_table(baselines(records))
        return (*drawn, compared) if compared.rows else tuple(drawn)

    def summary(self, records: Sequence[DependenceRecord]) -> str:
        """Like `Probe.summary`."""
        weak = first_words(baselines(records))
        if records[0].protocol == CORE:
            return f"{weak}{core_summary([one for record in records for one in record.answers])}."
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
        return weak + " ".join(parts)

    def measures(self, record: DependenceRecord) -> Mapping[str, bool]:
        """Like `Probe.measures`; a function without dependences of a relation has no measure of it."""
        found: dict[str, bool] = {}
        if record.protocol == CORE:
            for task in dict.fromkeys(one.task for one in record.answers):
                these = [one for one in record.answers if one.task is task]
                found[f"majority of answers on {task.words} right"] = 2 * sum(map(core_right, these)) > len(
                    these
                )
            return found
        for relation in Relation:
            total = _total([record], relation)
            if total.true_positives + total.false_negatives:
                found[f"all {relation} dependences shown"] = not total.false_negatives
                found[f"no {relation} dependence invented"] = not total.false_positives
            if traces := record.traces.get(relation):
                found[f"all {relation} traces right"] = all(trace.path for trace in traces)
        return found

    def estimate(self, target: Target, options: DependenceOptions, model: Model) -> int:
        """Like `Probe.estimate`."""
        if options.chosen_protocol == EMPICA:
            return QUESTIONS
        subject = ExaminedFunction.of(_analysed(target))
        if options.chosen_protocol == CORE:
            limit, seed = options.questions, options.seed
            return len(
                asked_of(subject, target.name, target.details, lite=options.lite, limit=limit, seed=seed)
            )
        method = options.method_for(model)
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


def _analysed(target: Target) -> Dependences:
    """The true dependences of a function.

    Raises:
        SourceError: its source does not parse.
    """
    return dependences(target.document.text, target.qualname, language=target.document.language)


def _total(records: Sequence[DependenceRecord], relation: Relation) -> Agreement:
    """Agreement over functions: of chains, if the method asks about them."""
    return sum((record.agreement.of(record.method)[relation] for record in records), Agreement())
