"""What each statement of a function depends on, as plain data."""

from __future__ import annotations

from typing import Any

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
