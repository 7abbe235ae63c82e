"""The tables of sampled completions: pass rates of both sides, and their difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from counterlens.metrics.bootstrap import pooled_mean
from counterlens.metrics.pass_rates import NOTHING, PassCount, RateFinding, mean_difference, pass_at
from counterlens.metrics.table import Cell, Table
from counterlens.probes.pairs.record import Drawn, DrawnPair, PairsRecord

ALL = "all"
"""The label of the row for all mutations."""
_COLUMNS = ("pairs", "draws", "original passes", "counterfactual passes", "difference", *RateFinding)
_NOTE = (
    "completions sampled at a temperature; passes: the mean over pairs of the share that passed, of the "
    "first samples, which all pairs have (early stopping would bias it); difference: the counterfactual's "
    "minus the original's, below 0 it loses, functions being independent; moved: pairs whose interval "
    f"excludes 0; held: pairs whose interval lies within {NOTHING:g} of 0; open: the others"
)
_AT_K_NOTE = (
    "the probability that one of k sampled completions passes (Chen et al. 2021, equation 1), mean over "
    "pairs, functions being independent; all completions were sampled, because early stopping would bias it"
)
_SIDES: tuple[Callable[[DrawnPair], Drawn], ...] = (
    lambda drawn: drawn.original,
    lambda drawn: drawn.counterfactual,
)
_Found = tuple[str, str, DrawnPair]
"""The function of a pair, its mutation, and its samples."""


def drawn_tables(models: Mapping[str, Sequence[PairsRecord]]) -> tuple[Table, ...]:
    """The pass rates of all pairs and by mutation; empty if nothing was sampled.

    Args:
        models: The records of each model, by its name.
    """
    rows: list[tuple[Cell, ...]] = []
    for model, records in models.items():
        found = list(_found(records))
        names = [ALL, *sorted({mutation for _, mutation, _ in found})] if found else []
        rows += ((model, name, *_cells([one for one in found if name in (ALL, one[1])])) for name in names)
    if not rows:
        return ()
    return (Table("pass rates of sampled completions", ("model", "mutation", *_COLUMNS), tuple(rows), _NOTE),)


def pass_at_tables(models: Mapping[str, Sequence[PairsRecord]]) -> tuple[Table, ...]:
    """pass@k of both sides of all pairs and by mutation; empty if it was not requested.

    Args:
        models: The records of each model, by its name.
    """
    rows: list[tuple[Cell, ...]] = []
    for model, records in models.items():
        found = [one for one in _found(records) if one[2].pass_at]
        names = [ALL, *sorted({mutation for _, mutation, _ in found})] if found else []
        for name in names:
            part = [one for one in found if name in (ALL, one[1])]
            sides = (
                [(at, pass_at(drawn.pass_at, side(drawn).count)) for at, _, drawn in part] for side in _SIDES
            )
            shares = [
                pooled_mean(((at, share) for at, share in side if share is not None), bounds=(0.0, 1.0))
                for side in sides
            ]
            rows.append((model, name, part[0][2].pass_at, len(part), *shares))
    columns = ("model", "mutation", "k", "pairs", "original pass@k", "counterfactual pass@k")
    return (Table("pass@k", columns, tuple(rows), _AT_K_NOTE),) if rows else ()


def _found(records: Iterable[PairsRecord]) -> Iterator[_Found]:
    for record in records:
        for pair in record.pairs:
            if pair.drawn is not None:
                yield f"{record.target} {record.function}", pair.mutation, pair.drawn


def _cells(found: Sequence[_Found]) -> tuple[Cell, ...]:
    def rate(counts: Iterable[tuple[str, PassCount]]) -> Cell:
        return pooled_mean(((name, count.rate) for name, count in counts if count.n), bounds=(0.0, 1.0))

    sides = [
        (name, drawn.original.count_of(drawn.first), drawn.counterfactual.count_of(drawn.first))
        for name, _, drawn in found
    ]
    findings = Counter(drawn.finding for _, _, drawn in found)
    return (
        len(found),
        sum(len(drawn.original.passed) + len(drawn.counterfactual.passed) for _, _, drawn in found),
        rate((name, before) for name, before, _ in sides),
        rate((name, after) for name, _, after in sides),
        mean_difference(sides),
        *(findings[one] for one in RateFinding),
    )
