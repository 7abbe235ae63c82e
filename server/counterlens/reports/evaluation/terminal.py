"""A run at a terminal: its tables, and what was left out."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from counterlens.evaluation.figures import Found
from counterlens.reports.evaluation import wording
from counterlens.reports.tables import grid

_MOST = 8


def run_report(found: Found) -> RenderableType:
    """The tables that have rows."""
    parts: list[RenderableType] = [Text(wording.title(found), style="bold"), Text(wording.state(found))]
    for table in found.tables():
        if table.rows:
            parts += [Text(), Text(table.title, style="bold"), grid(table)]
            if table.note:
                parts.append(Text(table.note, style="dim"))
    if found.left_out:
        parts += [Text(), Text("left out", style="bold")]
        reasons = list(found.left_out.items())
        parts += [Text(f"  {count}  {reason}") for reason, count in reasons[:_MOST]]
        if len(reasons) > _MOST:
            parts.append(Text(f"  … and {len(reasons) - _MOST} more reasons"))
    return Group(*parts)
