"""The table of effects over stable verdicts, beside those of all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from counterlens.metrics.summary import grouped, summarize
from counterlens.metrics.table import Cell, Table
from counterlens.probes.pairs.record import PairsRecord

ALL = "all"
"""The label of the row for all mutations."""
_COLUMNS = ("informative", "effect", "stable", "effect there")
_NOTE = (
    "informative: pairs with followed ties; effect: of all pairs; stable: informative pairs with the same "
    "verdict for every alternative choice between tokens that are closer than the model's rounding, on both "
    "sides; there: over these pairs"
)


def stability_tables(models: Mapping[str, Sequence[PairsRecord]]) -> tuple[Table, ...]:
    """The effects of all pairs and by mutation, over all and over stable ones; empty without alternatives.

    Args:
        models: The records of each model, by its name.
    """
    rows: list[tuple[Cell, ...]] = []
    for model, records in models.items():
        seen = [one for record in records for one in record.observations]
        parts = {ALL: summarize(seen), **dict(sorted(grouped(seen, lambda one: one.mutation).items()))}
        for name, whole in parts.items():
            if found := whole.stable:
                rows.append((model, name, found.share.n, whole.average, found.share, found.average))
    if not rows:
        return ()
    return (Table("stable verdicts", ("model", "mutation", *_COLUMNS), tuple(rows), _NOTE),)
