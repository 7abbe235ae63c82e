"""The results of tasks: tables for a terminal, plain data for `--json`."""

from __future__ import annotations

import re
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Proportion
from counterlens.probes.task import Cell, Result, Table

_WIDEST = 44
_WORDED_FIGURE = re.compile(r"[<+-]?\d+(\.\d+)?(e[+-]?\d+)?")


def task_json(result: Result) -> dict[str, Any]:
    """Everything that a task found. The keys are a contract: added to, never renamed."""
    info = result.model
    return {
        "task": result.task,
        "title": result.title,
        "model": {"id": info.id, "name": info.name, "identity": info.identity, "where": info.where},
        "summary": result.summary,
        "tables": [
            {
                "title": table.title,
                "columns": list(table.columns),
                "rows": [[plain_cell(cell) for cell in row] for row in table.rows],
                "note": table.note,
            }
            for table in result.tables
        ],
        "left_out": dict(result.left_out),
        **result.data,
    }


def task_report(result: Result) -> RenderableType:
    """The tables, what was left out, and what it means."""
    parts: list[RenderableType] = [
        Text.assemble((result.task, "bold"), f"   {result.title}   {result.model.name}, {result.model.where}")
    ]
    for table in result.tables:
        parts += [Text(), Text(table.title, style="bold"), grid(table)]
        if table.note:
            parts.append(Text(table.note, style="dim"))
    if result.left_out:
        parts += [Text(), Text("left out", style="bold")]
        parts += [Text(f"  {count} {reason}") for reason, count in sorted(result.left_out.items())]
    parts += [Text(), Text(result.summary)]
    return Group(*parts)


def cell_text(cell: Cell) -> str:
    """A cell as text: figures with two digits or more where it matters, and their interval."""
    if cell is None:
        return "--"
    if isinstance(cell, Proportion):
        if cell.value is None:
            return "--"
        return f"{cell.value:.0%} [{_bound(cell.low)}, {_bound(cell.high)}]"
    if isinstance(cell, Estimate):
        if cell.value is None:
            return "--"
        digits = 3 if 0 < abs(cell.value) < 0.1 else 2
        if cell.n < 2:
            return f"{cell.value:.{digits}f}"
        low, high = ("--" if bound is None else f"{bound:.{digits}f}" for bound in (cell.low, cell.high))
        return f"{cell.value:.{digits}f} [{low}, {high}]"
    if isinstance(cell, float):
        return f"{cell:.3f}" if abs(cell) < 0.1 else f"{cell:.2f}"
    return str(cell)


def figure_columns(table: Table) -> set[int]:
    """The columns that hold figures alone, which stand flush right."""
    return {i for i in range(len(table.columns)) if all(is_figure(row[i]) for row in table.rows)}


def is_figure(cell: Cell) -> bool:
    """Whether a cell is a figure, or one that was worded already, such as `+0.05` or `4e-07`."""
    return not isinstance(cell, str) or _WORDED_FIGURE.fullmatch(cell) is not None


def _bound(value: float | None) -> str:
    return "--" if value is None else f"{value:.0%}"


def plain_cell(cell: Cell) -> Any:
    """A cell as plain data: a figure with its interval is an object."""
    if isinstance(cell, Proportion):
        return {"value": cell.value, "low": cell.low, "high": cell.high, "count": cell.count, "n": cell.n}
    if isinstance(cell, Estimate):
        return {"value": cell.value, "low": cell.low, "high": cell.high, "n": cell.n}
    return cell


def grid(table: Table) -> Grid:
    """A table for a terminal."""
    drawn = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    figures = figure_columns(table)
    for i, name in enumerate(table.columns):
        if i in figures:
            drawn.add_column(name, justify="right", no_wrap=True)
        else:
            drawn.add_column(name, max_width=_WIDEST, overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(cell_text(cell)) for cell in row))
    return drawn
