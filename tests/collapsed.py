"""Intervals that are points, which no table may have."""

from __future__ import annotations

from collections.abc import Iterable

from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Proportion
from counterlens.metrics.table import Table


def collapsed(tables: Iterable[Table]) -> list[tuple[str, str, Proportion | Estimate]]:
    """The cells whose interval is a point, or has one end: each with the table's title and the row's head.

    A figure of nothing has no interval, and one whose spread is not known says so; neither is a point.
    """
    return [
        (table.title, str(row[0]), cell)
        for table in tables
        for row in table.rows
        for cell in row
        if isinstance(cell, Proportion | Estimate) and cell.n and _is_point(cell)
    ]


def figures(tables: Iterable[Table]) -> int:
    """How many cells are figures with an interval, or could be."""
    return sum(
        isinstance(cell, Proportion | Estimate) for table in tables for row in table.rows for cell in row
    )


def _is_point(cell: Proportion | Estimate) -> bool:
    if cell.low is None or cell.high is None:
        return cell.low is not cell.high
    return not cell.low < cell.high
