"""Dependences without a model: the best constant answer, and a random one, beside the model's.

The constant list is the one of the true lists that has the highest F1 over all functions; the random list has
every pair with the share of true pairs. One by one, the constant answer is yes, and the random one is either
with equal chances. F1 is over all functions together, because that of one function may be undefined.
"""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.metrics.agreement import Agreement
from counterlens.probes.dependence.core_answers import CoreAnswer
from counterlens.probes.dependence.core_form import CoreForm
from counterlens.probes.dependence.examined import Relation
from counterlens.probes.dependence.inferred import EdgeStatus
from counterlens.probes.dependence.parts import StatementPair
from counterlens.probes.dependence.published import core_right
from counterlens.probes.dependence.record import DependenceRecord
from counterlens.probes.prompts.baselines import ChanceComparison, share_right


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
