"""The tables of the protocol `cacp`, in the layout of Hooda et al. 2024: Tables 1 to 5.

An average mutation effect is the share of pairs whose verdict changed, among those with a right side (section
4.3). The accuracy of originals counts every original once: a prompt shared by several counterfactuals is
completed and judged once. Intervals, which are not in the paper, are over functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from counterlens.metrics.bootstrap import Estimate, pooled_mean
from counterlens.metrics.effects import Proportion
from counterlens.metrics.summary import Observation, summaries_by, summarize
from counterlens.metrics.table import Cell, Table
from counterlens.probes.pairs.published import COMPLEMENTS, PAPER_ORDER
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.probes.pairs.tables import discriminating_table, range_text

Models = Mapping[str, Sequence[PairsRecord]]
Range = tuple[float, float]
_EFFECTS_NOTE = (
    "share of the informative pairs (either side right) whose verdict changed; original accuracy: share of "
    "the originals completed correctly, each counted once (Hooda et al. 2024, Table {number}, which has no "
    "intervals)"
)
_COUNTS_NOTE = (
    "counterfactuals that pass the tests of their function and that a completion could show "
    "(Hooda et al. 2024, Table 1)"
)
_RANGES_NOTE = (
    "the same counterfactuals of the same functions, cut at different places "
    "(Hooda et al. 2024, Table 4, which has no flips, because they are cut at the branch)"
)
_OPERATORS_NOTE = (
    "Δ: correct completions lost when the second operator replaces the first, as a share of the n pairs; "
    "below 0 more are gained (Hooda et al. 2024, Table 3; the task memorisation has their ratio in a "
    "corpus, too)"
)


def published_tables(models: Models, *, repair: bool = False) -> tuple[Table, ...]:
    """The tables of the records of models: their effects, and the numbers of counterfactuals.

    Args:
        repair: Whether the task was repair, which is Table 5.
    """
    return *_effects_tables(models, repair=repair), _counts_table(models)


def _effects_tables(models: Models, *, repair: bool) -> tuple[Table, ...]:
    """The effects by mutation and by operator, or by cut if there are several."""
    seen = {model: _observations(of) for model, of in models.items()}
    discriminating = discriminating_table(seen, PAPER_ORDER)
    if any(pair.cut_range for records in models.values() for record in records for pair in record.pairs):
        return _ranges_table(models), *discriminating
    number, what = (5, "average mutation effect, repair") if repair else (2, "average mutation effect")
    names = (*PAPER_ORDER, *_other_mutations(models))
    columns = ("model", "original accuracy", *names)
    rows = tuple((model, *_effects(pairs, names)) for model, pairs in seen.items())
    effects = Table(what, columns, rows, _EFFECTS_NOTE.format(number=number))
    operators = _operators_table(models)
    return (effects, *((operators,) if operators.rows else ()), *discriminating)


def _counts_table(models: Models) -> Table:
    """The numbers of counterfactuals, each counted once however often it was cut (Table 1)."""
    rows: list[tuple[Cell, ...]] = []
    for model, records in models.items():
        made = [
            (pair.mutation, record.target, record.function, pair.edits)
            for record in records
            for pair in record.pairs
        ]
        distinct = [name for name, *_ in set(made)]
        own = [distinct.count(name) for name in PAPER_ORDER]
        rows.append((model, *own, sum(own), *(distinct.count(name) for name in _other_mutations(models))))
    columns = ("model", *PAPER_ORDER, "all", *_other_mutations(models))
    return Table("counterfactual pairs", columns, tuple(rows), _COUNTS_NOTE)


def _ranges_table(models: Models) -> Table:
    names = [name for name in (*PAPER_ORDER, *_other_mutations(models)) if name != "if-else-flip"]
    rows: list[tuple[Cell, ...]] = []
    for model, records in models.items():
        for bounds in sorted(
            {pair.cut_range for record in records for pair in record.pairs if pair.cut_range}
        ):
            seen = _observations(records, bounds)
            counted = sum(pair.mutation in PAPER_ORDER for pair in seen)
            rows.append((model, range_text(bounds), *_effects(seen, names), counted))
    columns = ("model", "prefix ratio", "original accuracy", *names, "pairs")
    return Table("average mutation effect by cut", columns, tuple(rows), _RANGES_NOTE)


def _operators_table(models: Models) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for model, records in models.items():
        judged = [
            (record.target, pair)
            for record in records
            for pair in record.pairs
            if pair.operators and pair.effect is not None
        ]
        for a, b in COMPLEMENTS:
            there, back = _losses(judged, (a, b)), _losses(judged, (b, a))
            if there or back:
                lost = (_mean_loss(there), _mean_loss(back))
                rows.append((model, a, b, *lost, len(there), len(back)))
    columns = ("model", "op A", "op B", "Δ(A→B)", "Δ(B→A)", "n A→B", "n B→A")
    return Table("complementary operators", columns, tuple(rows), _OPERATORS_NOTE)


def _losses(judged: Iterable[tuple[str, PairRecord]], operators: tuple[str, str]) -> list[tuple[str, float]]:
    """The function of each pair with these operators, and the number of correct completions that it lost."""
    return [
        (target, -pair.effect.signed)
        for target, pair in judged
        if pair.effect is not None and pair.operators == operators
    ]


def _mean_loss(losses: Iterable[tuple[str, float]]) -> Estimate:
    return pooled_mean(losses, bounds=(-1, 1))


def _effects(seen: Sequence[Observation], names: Sequence[str]) -> tuple[Proportion | None, ...]:
    """The accuracy of originals, and the effect of each mutation."""
    by_mutation = summaries_by(seen, lambda pair: pair.mutation)
    effects = (by_mutation[name].average if name in by_mutation else None for name in names)
    of_paper = [pair for pair in seen if pair.mutation in PAPER_ORDER]
    return summarize(of_paper).original_accuracy, *effects


def _other_mutations(models: Models) -> tuple[str, ...]:
    """The mutations beside those of the paper, whose columns come last; no other column is about them."""
    seen = {pair.mutation for records in models.values() for record in records for pair in record.pairs}
    return tuple(sorted(seen.difference(PAPER_ORDER)))


def _observations(records: Iterable[PairsRecord], cut_range: Range | None = None) -> list[Observation]:
    """The observations of the pairs, or of those that were cut in one range."""
    return [
        seen
        for record in records
        for pair, seen in zip(record.pairs, record.observations, strict=True)
        if cut_range is None or pair.cut_range == cut_range
    ]
