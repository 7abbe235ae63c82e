"""Small functions in Java, with their dependences, determined by hand.

In a case, a comment at the end of a line gives its control dependences (`<` and the lines, with `+` and `-`
for the outcome), and its data dependences (variable and line, `*` for one through the object).
"""

from __future__ import annotations

import re

from counterlens.dependence import Dependences, Kind

_EXPECTED = re.compile(r"//(?: *<(?P<control>[^;]*))?;?(?P<data>.*)")
_SIGNS = {"true": "+", "false": "-", "": ""}


def expected(source: str) -> dict[int, tuple[set[str], set[str]]]:
    """The expected control and data dependences in the comments of a source, by line."""
    found = {}
    for number, line in enumerate(source.split("\n"), 1):
        if match := _EXPECTED.search(line):
            control, data = (match[name] or "" for name in ("control", "data"))
            found[number] = (set(control.split()), {part.strip() for part in data.split(",") if part.strip()})
    return found


def computed(graph: Dependences, lines: set[int]) -> dict[int, tuple[set[str], set[str]]]:
    """The control and data dependences in a graph, for some lines."""
    line = {statement.id: statement.line for statement in graph.statements}
    found: dict[int, tuple[set[str], set[str]]] = {number: (set(), set()) for number in lines}
    for edge in graph.edges:
        if line[edge.target] in found:
            control, data = found[line[edge.target]]
            if edge.kind is Kind.CONTROL:
                control.add(f"{line[edge.source]}{_SIGNS[edge.outcome]}")
            else:
                data.add(f"{edge.variable} {line[edge.source]}{'*' if edge.kind is Kind.HEAP else ''}")
    return found
