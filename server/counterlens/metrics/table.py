"""Tables of figures, independent of the report format."""

from __future__ import annotations

from dataclasses import dataclass

from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Proportion

Cell = str | int | float | Proportion | Estimate | None
"""A cell of a table: a figure with an interval is shown with it; None is a dash."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a report.

    Attributes:
        title: Its content.
        columns: The names of its columns.
        rows: Its rows, as long as `columns`.
        note: A note for readers.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
