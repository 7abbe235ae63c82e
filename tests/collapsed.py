"""Finds intervals that are points, which are not allowed in tables."""

from __future__ import annotations

from collections.abc import Iterable

from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Proportion
from counterlens.metrics.table import Table


def collapsed(tables: Iterable[Table]) -> list[tuple[str, str, Proportion | Estimate]]:
    """The cells whose interval is a point or has only one end, with the table's title and the row's head.

    A figure over no items has no interval, and one with an unknown spread says so; neither counts.
    """
    return [
        (table.title, str(row[0]), cell)
        for table in tables
        for row in table.rows
        for cell in row
        if isinstance(cell, Proportion | Estimate) and cell.n and _is_point(cell)
    ]


def figures(tables: Iterable[Table]) -> int:
    """The number of cells with figures that have, or could have, an interval."""
    return sum(
        isinstance(cell, Proportion | Estimate) for table in tables for row in table.rows for cell in row
    )


def _is_point(cell: Proportion | Estimate) -> bool:
    if cell.low is None or cell.high is None:
        return cell.low is not cell.high
    return not cell.low < cell.high
