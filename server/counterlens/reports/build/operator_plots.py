"""Figures 6 and 7 of Ahmed et al. 2024: the surprisal of operators before and after swaps, as box plots."""

from __future__ import annotations

from typing import Any

from counterlens.evaluation.results import RunResults
from counterlens.probes.operator.published import FIGURES, MEASURES_OF, Measure, five, spreads
from counterlens.probes.operator.record import OperatorRecord
from counterlens.reports.build.plots import COLOURS, available, plot_of
from counterlens.reports.document import Figure, TableBlock
from counterlens.reports.still_plots import Spread
from counterlens.reports.still_plots import boxes as still_boxes

_TASK = "operator"
_SIDES = {"no": "original", "yes": "transformed"}
_WIDTH, _ROW = 520, 36
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
    if available():
        return plot_of(_chart(rows), title, _DESCRIPTION, table)
    spreads = [Spread(row["transformation"], row["side"], tuple(row[name] for name in _ENDS)) for row in rows]
    return Figure(f"{title}, in nats", _DESCRIPTION, table, svg=still_boxes(spreads, COLOURS))


def _chart(rows: list[dict[str, Any]]) -> Any:
    import altair

    alt: Any = altair
    sides = list(_SIDES.values())
    changes = list(dict.fromkeys(row["transformation"] for row in rows))
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("transformation:N", sort=changes, title=None),
        yOffset=alt.YOffset("side:N", sort=sides),
        color=alt.Color("side:N", scale=alt.Scale(domain=sides, range=COLOURS[: len(sides)]), title=None),
        tooltip=["transformation:N", "side:N", *(f"{name}:Q" for name in _ENDS), "n:Q"],
    )
    axis = {"title": "nats"}
    whiskers = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("least:Q", **axis), x2="most:Q")
    middle = base.mark_bar(size=9, opacity=0.6).encode(
        x=alt.X("lower quartile:Q", **axis), x2="upper quartile:Q"
    )
    median = base.mark_tick(thickness=3, size=13).encode(x=alt.X("median:Q", **axis))
    return (whiskers + middle + median).properties(width=_WIDTH, height=_ROW * len(changes))
