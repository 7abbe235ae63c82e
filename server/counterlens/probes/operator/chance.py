"""The result of guessing by frequency, and the figures operator by operator.

The tables of Ahmed et al. 2024, sections 4.2.1 and 4.3, and their Tables 8 and 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from counterlens.metrics.agreement import Agreement
from counterlens.metrics.guessing import SIMULATIONS, Chance, Guess, PerCandidate, by_chance
from counterlens.metrics.table import Cell, Table
from counterlens.probes.operator.cells import SIDES, Answers, Records, groups, pairs_of, share, side_of
from counterlens.probes.operator.pairs import CHANGES
from counterlens.probes.operator.record import OperatorAnswer

NOTE = (
    f"chance: mean accuracy of {SIMULATIONS} guessing rounds by frequency; p: the share of rounds that were "
    "at least as good"
)
OVERALL = "overall"
OPERATOR_COLUMNS = ("operator", "n", "TP", "FP", "FN", "precision", "recall", "F1", "p")
_SWAPS = ("operand-swap", "block-swap")


def guesses(answers: Sequence[OperatorAnswer]) -> list[Guess]:
    """The likeliest candidates as guesses."""
    return [Guess(answer.operator, answer.predicted, answer.candidates) for answer in answers]


def compare(
    asked: Answers, frequency: Mapping[str, float], seed: int
) -> tuple[Chance, dict[str, PerCandidate]] | None:
    """Answers compared with guessing by frequency; None without answers."""
    return by_chance(guesses([answer for _, answer in asked]), frequency, seed=seed)


def sides(records: Records, frequency: Mapping[str, float], seed: int) -> Table | None:
    """Chance before and after each change that may change the operator; None without pairs."""
    rows: list[tuple[Cell, ...]] = []
    for name, change in CHANGES.items():
        if not change.can_swap:
            continue
        for title, pairs in groups(name, pairs_of(records, name)).items():
            for side in SIDES:
                asked = side_of(pairs, side)
                comparison = compare(asked, frequency, seed)
                if comparison:
                    chance = comparison[0]
                    row = share(asked), chance.mean, chance.highest, chance.p_value
                    rows.append((title, side, len(asked), *row))
    columns = ("change", "side", "n", "accuracy", "chance", "best round", "p")
    title = "guessing by frequency, before and after a swap"
    return Table(title, columns, tuple(rows), NOTE) if rows else None


def operators(records: Records, frequency: Mapping[str, float], seed: int) -> Table:
    """Precision, recall and F1 of every operator, before and after (Ahmed et al. 2024, Tables 8 and 9)."""
    standing = [(record.target, answer) for record in records for answer in record.operators]
    rows = [("as it stands", *cells) for cells in per_operator(standing, frequency, seed)]
    for name in _SWAPS:
        for title, pairs in groups(name, pairs_of(records, name)).items():
            for side in SIDES:
                cells = per_operator(side_of(pairs, side), frequency, seed)
                rows += [(f"{side} {title}", *row) for row in cells]
    note = f"p: of the F1, against guessing by frequency; {OVERALL}: of the summed counts"
    return Table("operator by operator", ("version", *OPERATOR_COLUMNS), tuple(rows), note)


def per_operator(asked: Answers, frequency: Mapping[str, float], seed: int) -> Iterator[tuple[Cell, ...]]:
    """A row for each existing or expected operator, and an overall row."""
    comparison = compare(asked, frequency, seed)
    if comparison is None:
        return
    chance, by_operator = comparison
    shown = {name: candidate for name, candidate in by_operator.items() if candidate.counts != Agreement()}
    for name, figures in shown.items():
        yield (name, *count_cells(figures.counts), figures.p_value)
    yield (
        OVERALL,
        *count_cells(sum((candidate.counts for candidate in shown.values()), Agreement())),
        chance.p_value,
    )


def count_cells(counts: Agreement) -> tuple[Cell, ...]:
    """The number of answers, and the figures of counts."""
    return (
        counts.true_positives + counts.false_negatives,
        counts.true_positives,
        counts.false_positives,
        counts.false_negatives,
        counts.precision,
        counts.recall,
        counts.f1,
    )
