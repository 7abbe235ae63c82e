"""Figures 6 and 7 of Ahmed et al. 2024: the surprisal of operators before and after swaps, as box plots."""

from __future__ import annotations

from typing import Any

from counterlens.evaluation.results import RunResults
from counterlens.probes.operator.published import FIGURES, MEASURES_OF, Measure, five, spreads
from counterlens.probes.operator.record import OperatorRecord
from counterlens.reports.build.plots import COLOURS
from counterlens.reports.document import Figure, TableBlock
from counterlens.reports.still_plots import Spread, box_plots

_TASK = "operator"
_SIDES = {"no": "original", "yes": "transformed"}
_DESCRIPTION = (
    "Two box plots per transformation, of the originals and of the transformed: a line from the minimum to "
    "the maximum, a bar between the quartiles, and a tick at the median."
)
_ENDS = ("least", "lower quartile", "median", "upper quartile", "most")


def boxes(results: RunResults) -> list[Figure]:
    """The figures of each model of a run with the protocol; none for others."""
    if _TASK not in results.settings.tasks:
        return []
    part = results.only(_TASK)
    drawn = []
    for model in part.models:
        records = [
            record for record in part.probed(model) if isinstance(record, OperatorRecord) and record.protocol
        ]
        for number, title in FIGURES.items():
            rows = _rows(records, MEASURES_OF[number])
            if rows:
                drawn.append(_boxes(f"{title}, {model}" if len(part.models) > 1 else title, rows))
    return drawn


def _rows(records: list[OperatorRecord], measure: Measure) -> list[dict[str, Any]]:
    return [
        {"transformation": change, "side": _SIDES[side], "n": len(known)}
        | dict(zip(_ENDS, five(known), strict=True))
        for change, side, known in spreads(records, measure)
    ]


def _boxes(title: str, rows: list[dict[str, Any]]) -> Figure:
    columns = ("transformation", "side", "n", *_ENDS)
    table = TableBlock(title, columns, tuple(tuple(row[name] for name in columns) for row in rows))
    spreads = [Spread(row["transformation"], row["side"], tuple(row[name] for name in _ENDS)) for row in rows]
    return Figure(f"{title}, in nats", _DESCRIPTION, table, svg=box_plots(spreads, COLOURS))
