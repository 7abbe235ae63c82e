"""What each statement depends on: as plain data, and as a table for a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from counterlens.dependence import Dependences, Kind


def plain(found: Dependences) -> dict[str, Any]:
    """The dependences of one function for `--json`. The keys are a contract: added to, never renamed."""
    line = {one.id: one.line for one in found.statements}
    data = {
        (line[edge.source], line[edge.target], edge.variable, str(edge.kind))
        for edge in found.edges
        if edge.kind is not Kind.CONTROL
    }
    return {
        "function": found.function,
        "statements": [
            {"id": one.id, "line": one.line, "end_line": one.end_line, "text": one.text}
            for one in found.statements
        ],
        "control": [list(edge) for edge in sorted(found.control)],
        "data": [list(edge) for edge in sorted(data)],
    }


def dependence_report(found: Dependences, path: Path) -> Group:
    """One row for each statement: what decides whether it runs, and where its values come from."""
    title = Text.assemble((found.function, "bold"), f"   {path}")
    if not found.statements:
        return Group(title, Text("  no statements", style="dim"))
    title.append(f":{found.statements[0].line}-{max(one.end_line for one in found.statements)}")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("line", justify="right", style="dim")
    table.add_column("statement", no_wrap=True, overflow="ellipsis")
    table.add_column("decided by")
    table.add_column("values from")
    line = {one.id: one.line for one in found.statements}
    for one in found.statements:
        into = [edge for edge in found.edges if edge.target == one.id]
        branches = sorted({(line[e.source], e.outcome) for e in into if e.kind is Kind.CONTROL})
        values = sorted({(line[e.source], e.variable, e.kind) for e in into if e.kind is not Kind.CONTROL})
        table.add_row(
            str(one.line),
            Text(one.text.partition("\n")[0]),
            ", ".join(f"{at} {outcome}".rstrip() for at, outcome in branches),
            ", ".join(f"{variable} {at}{'*' if kind is Kind.HEAP else ''}" for at, variable, kind in values),
        )
    parts: list[RenderableType] = [title, table]
    if any(edge.kind is Kind.HEAP for edge in found.edges):
        parts.append(Text("* through a change of the object, not of the name", style="dim"))
    return Group(*parts, Text())
