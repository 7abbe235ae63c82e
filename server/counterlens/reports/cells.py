"""Table cells as text, the same in every report format."""

from __future__ import annotations

import re
from collections.abc import Sequence

from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Proportion
from counterlens.reports.document import HeadingLink, Marked, ReportCell, Shaded

FEW = 10
"""Number of cases below which a share says how many there are."""
_WORDED_FIGURE = re.compile(r"[<+-]?\d+(\.\d+)?(e[+-]?\d+)?")


def cell_text(cell: ReportCell) -> str:
    """A cell as text: figures with two digits, or more if they matter, and their interval."""
    match cell:
        case None | Proportion(value=None) | Estimate(value=None):
            return "--"
        case Marked() | HeadingLink() | Shaded():
            return cell.text
        case Proportion():
            few = f", n = {cell.n}" if cell.n < FEW else ""
            return f"{cell.value:.0%} [{_show_bound(cell.low)}, {_show_bound(cell.high)}]{few}"
        case Estimate(value=value, low=low, high=high) if value is not None:
            digits = 3 if 0 < abs(value) < 0.1 else 2
            known = low is not None and high is not None and cell.n > 1
            interval = f" [{low:.{digits}f}, {high:.{digits}f}]" if known else ""
            return f"{value:.{digits}f}{interval}"
        case float():
            return f"{cell:.3f}" if abs(cell) < 0.1 else f"{cell:.2f}"
    return str(cell)


def figure_columns(columns: Sequence[str], rows: Sequence[Sequence[ReportCell]]) -> set[int]:
    """The indices of columns of figures alone, which are aligned right."""
    return {i for i in range(len(columns)) if all(is_figure(row[i]) for row in rows)}


def is_figure(cell: ReportCell) -> bool:
    """Whether a cell is a figure, or text in the form of one, such as `+0.05` or `4e-07`."""
    if isinstance(cell, Shaded):
        return True
    if isinstance(cell, Marked | HeadingLink):
        return False
    return not isinstance(cell, str) or _WORDED_FIGURE.fullmatch(cell) is not None


def _show_bound(value: float | None) -> str:
    return "--" if value is None else f"{value:.0%}"
