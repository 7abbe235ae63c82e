"""The tables of effects beside their noise floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from counterlens.metrics.noise_floor import AboveFloor, above_floor
from counterlens.metrics.significance import holm, p_text
from counterlens.metrics.summary import Observation
from counterlens.metrics.table import Cell, Table
from counterlens.probes.pairs.record import PairsRecord

ALL = "all"
"""The label of the row for all mutations."""
COLUMNS = ("n", "effect", "placebos", "noise floor", "effect minus floor", "p", "Holm p")
_NOTE = (
    "n and placebos: the informative ones; noise floor: the share of these placebos whose verdict changed "
    "(a blank line, a comment moved by a line, other quotation marks around the docstring, the same prompt "
    "again), of the same functions; effect minus floor: between -1 and 1, jackknife over functions; p: "
    "exact, labels permuted within each function; Holm p: adjusted for the number of tests of all pairs, or "
    "by mutation. An effect exceeds noise if the interval of the difference is above 0 and p is below 0.05"
)


def floor_tables(models: Mapping[str, Sequence[PairsRecord]]) -> tuple[Table, ...]:
    """The effects of all pairs and by mutation beside their noise floor; empty if no placebo was judged.

    The tests of all pairs are one family, those by mutation another.

    Args:
        models: The records of each model, by its name.
    """
    effects: dict[tuple[str, str], AboveFloor] = {}
    for model, records in models.items():
        for name, floor in floors(records).items():
            effects[model, name] = floor
    if not any(effect.placebos for effect in effects.values()):
        return ()
    adjusted: dict[tuple[str, str], float | None] = {}
    for whole in (True, False):
        family = {head: effect.p for head, effect in effects.items() if (head[1] == ALL) is whole}
        adjusted |= zip(family, holm([*family.values()]), strict=True)
    rows = tuple((*head, *_cells(effect), p_text(adjusted[head])) for head, effect in effects.items())
    return (Table("effect and noise floor", ("model", "mutation", *COLUMNS), rows, _NOTE),)


def floors(records: Sequence[PairsRecord]) -> dict[str, AboveFloor]:
    """The effects of all pairs (`ALL`) and of each mutation beside their noise floor."""
    pairs, placebos = _observations(records)
    groups: dict[str, list[Observation]] = {ALL: pairs}
    groups |= {name: [pair for pair in pairs if pair.mutation == name] for name in _names(pairs)}
    return {name: above_floor(members, placebos) for name, members in groups.items()}


def overall_floor(records: Sequence[PairsRecord]) -> AboveFloor:
    """The effect of all pairs beside its noise floor."""
    return above_floor(*_observations(records))


def _observations(records: Sequence[PairsRecord]) -> tuple[list[Observation], list[Observation]]:
    """The pairs of the mutations, and the placebos."""
    pairs = chain.from_iterable(record.observations for record in records)
    return list(pairs), list(chain.from_iterable(record.placebo_observations for record in records))


def _names(pairs: Sequence[Observation]) -> list[str]:
    return sorted({pair.mutation for pair in pairs})


def _cells(comparison: AboveFloor) -> tuple[Cell, ...]:
    return (
        comparison.effect.n,
        comparison.effect,
        comparison.floor.n,
        comparison.floor,
        comparison.difference,
        p_text(comparison.p),
    )
