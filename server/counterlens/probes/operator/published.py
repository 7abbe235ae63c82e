"""The tables of Ahmed et al. 2024, cell by cell, which the protocol `operators` gives instead of our own.

As in the paper, every figure is pooled over all samples; the intervals, which are not in the paper, are over
functions. Table 6 belongs to the probe `embedding`, Table 1 is an example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from counterlens.metrics.agreement import Agreement
from counterlens.metrics.table import Cell, Table
from counterlens.probes.operator.cells import (
    MEASURES,
    PAIR_COLUMNS,
    SIDES,
    Pairs,
    Records,
    compare,
    pair_cells,
    pairs_of,
    share,
    side_of,
)
from counterlens.probes.operator.pairs import CHANGES, PUBLISHED
from counterlens.probes.operator.record import COMPLETE, OperatorAnswer, Window
from counterlens.probes.operator.tables import (
    FAMILIAR_COLUMNS,
    OPERATOR_COLUMNS,
    OVERALL,
    count_cells,
    familiar_cells,
)

OPERATORS = ("==", "!=", "<", "<=", ">", ">=")
"""The operators in the order of Tables 8 and 9."""
Measure = Callable[[OperatorAnswer], float | None]
FIGURES = {
    6: "Figure 6: the operator after the preceding text",
    7: "Figure 7: the operator given both sides",
}
MEASURES_OF: Mapping[int, Measure] = {6: lambda answer: answer.surprisal, 7: lambda answer: answer.nll}
"""The measures of the two figures, by number."""
_SWAPS = ("block-swap", "operand-swap")
_NAMES = {"block-swap": "original", "renamed block-swap": "uninformative"}
_NOT_AFTER = {"before": "no", "after": "yes"}
_SMOOTH = 0.0  # the paper guesses by unsmoothed frequency
_ROUNDS = "rounds better: of 1,000 rounds of guessing by frequency"
_SPREAD = ("n", "least", "lower quartile", "median", "upper quartile", "most", "mean")


def tables(records: Records, frequency: Mapping[str, float], *, seed: int) -> Iterator[Table]:
    """The published tables and figures that the records have pairs for.

    Args:
        records: Records of the protocol.
        frequency: Count of each operator in the corpus, or in the functions.
        seed: Random seed of guesses and intervals.
    """
    drawn = (
        _accuracy("Table 2: both swaps", records, _SWAPS),
        _windows(records),
        _accuracy("Table 4: with variables renamed", records, [f"renamed {swap}" for swap in _SWAPS]),
        _accuracy("Table 5: with the condition in a variable", records, ["refactored block-swap"]),
        _familiar(records),
        _operators(8, "block-swap", records, frequency, seed),
        _operators(9, "operand-swap", records, frequency, seed),
        _guessing(records, frequency, seed),
        _spread(
            FIGURES[6],
            records,
            MEASURES_OF[6],
            "nats; over the whole vocabulary, of the operator's own tokens; the model reads left to right",
        ),
        _spread(
            FIGURES[7],
            records,
            MEASURES_OF[7],
            "nats; the negative log-likelihood of the right operator among the candidates",
        ),
    )
    return (table for table in drawn if table.rows)


def _accuracy(title: str, records: Records, names: Sequence[str]) -> Table:
    rows = [(CHANGES[name].title, *pair_cells(pairs)) for name in names if (pairs := _pairs(records, name))]
    return Table(title, ("transformation", *PAIR_COLUMNS), tuple(rows), MEASURES)


def _windows(records: Records) -> Table:
    seen = {pair.window for record in records for pair in record.pairs}
    order = sorted(seen - {COMPLETE}, key=lambda window: (window.after or 0, -(window.before or 0)))
    rows = [
        (CHANGES[name].title, str(window), *pair_cells(pairs))
        for name in _SWAPS
        for window in (*order, COMPLETE)
        if order and (pairs := _pairs(records, name, window))
    ]
    note = f"context: lexical tokens on both sides (±) or only after the gap (+); {MEASURES}"
    return Table(
        "Table 3: with less context", ("transformation", "context", *PAIR_COLUMNS), tuple(rows), note
    )


def _familiar(records: Records) -> Table:
    rows = [
        (names, *cells)
        for change, names in _NAMES.items()
        for cells in familiar_cells(
            [(target, pair) for target, pair in _pairs(records, change) if pair.found is not None]
        )
    ]
    columns = ("names", *FAMILIAR_COLUMNS)
    note = "block swaps; found: whether the corpus contains the operation, ignoring whitespace"
    return Table("Table 7: seen in the corpus", columns, tuple(rows), note)


def _operators(
    number: int, change: str, records: Records, frequency: Mapping[str, float], seed: int
) -> Table:
    pairs = _pairs(records, change)
    compared = {side: compare(side_of(pairs, side), frequency, seed, unseen=_SMOOTH) for side in SIDES}
    rows: list[tuple[Cell, ...]] = []
    for name in OPERATORS:
        for side, comparison in compared.items():
            candidate = comparison[1].get(name) if comparison else None
            if candidate and candidate.counts != Agreement():
                cells = (*count_cells(candidate.counts), candidate.better, candidate.p_value)
                rows.append((name, _NOT_AFTER[side], *cells))
    for side, comparison in compared.items():
        if comparison:
            chance, by_operator = comparison
            counts = sum((candidate.counts for candidate in by_operator.values()), Agreement())
            rows.append((OVERALL, _NOT_AFTER[side], *count_cells(counts), chance.better, chance.p_value))
    title = f"Table {number}: operator by operator, {CHANGES[change].title}"
    columns = ("operator", "swapped", *OPERATOR_COLUMNS[1:-1], "rounds better", "p")
    note = (
        f"{_ROUNDS}, those with a better F1, and overall with a better accuracy; {OVERALL}: of the summed "
        "counts; TP, FP, FN: true and false positives, false negatives"
    )
    return Table(title, columns, tuple(rows), note)


def _guessing(records: Records, frequency: Mapping[str, float], seed: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name in PUBLISHED:
        for side in SIDES:
            asked = side_of(_pairs(records, name), side)
            comparison = compare(asked, frequency, seed, unseen=_SMOOTH)
            if comparison:
                chance = comparison[0]
                row = chance.mean, chance.highest, chance.better, chance.p_value
                rows.append((CHANGES[name].title, _NOT_AFTER[side], len(asked), share(asked), *row))
    columns = ("transformation", "transformed", "n", "accuracy", "chance", "best round", "rounds better", "p")
    note = f"{_ROUNDS} those that were more accurate (sections 4.2.1 and 4.2.4)"
    return Table("guessing by frequency", columns, tuple(rows), note)


def spreads(records: Records, value: Measure) -> Iterator[tuple[str, str, Sequence[float]]]:
    """The values of a box plot: transformation, side (`yes` if transformed, else `no`), figures."""
    for name in PUBLISHED:
        for side in SIDES:
            asked = side_of(_pairs(records, name), side)
            figures = [figure for _, answer in asked if (figure := value(answer)) is not None]
            if figures:
                yield CHANGES[name].title, _NOT_AFTER[side], figures


def five(values: Sequence[float]) -> list[float]:
    """The minimum, lower quartile, median, upper quartile and maximum of some figures."""
    quantiles: list[float] = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return quantiles


def _spread(title: str, records: Records, value: Measure, note: str) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (transformation, side, len(figures), *five(figures), float(np.mean(figures)))
        for transformation, side, figures in spreads(records, value)
    ]
    return Table(title, ("transformation", "transformed", *_SPREAD), tuple(rows), note)


def _pairs(records: Records, change: str, window: Window = COMPLETE) -> Pairs:
    return [(target, pair) for target, pair in pairs_of(records, change, window) if pair.published]
