"""Branch coverage of one function, counted as coverage.py does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reach:
    """How much of a function was reached.

    Attributes:
        taken: Branches that were taken: ways out of a line that has several.
        total: All branches.
        lines: Lines that were run.
        all_lines: Lines that can be run.
    """

    taken: int
    total: int
    lines: int
    all_lines: int

    @property
    def share(self) -> float:
        """The share of branches, or of lines if there are none; between 0 and 1."""
        if self.total:
            return self.taken / self.total
        return self.lines / self.all_lines if self.all_lines else 1.0

    def __str__(self) -> str:
        if self.total:
            return f"{self.taken} of {self.total} branches"
        return f"{self.lines} of {self.all_lines} lines, no branches"


def reach(text: str, lines: range, arcs: Iterable[tuple[int, int]]) -> Reach:
    """The share of some lines that was reached.

    Args:
        text: The source.
        lines: The lines of the function's body, 1-based.
        arcs: Pairs of line numbers, one after the other; negative ones are entries and exits.
    """
    # Only now, for the sake of everything that starts without it.
    from coverage.exceptions import CoverageException
    from coverage.parser import PythonParser

    parser = PythonParser(text=text)
    try:
        parser.parse_source()
    except CoverageException:
        return Reach(0, 0, 0, 0)
    possible = {arc for arc in parser.arcs() if arc[0] in lines}
    ways = parser.exit_counts()
    deciding = {arc for arc in possible if ways.get(arc[0], 0) > 1}
    seen = parser.translate_arcs(arcs)
    entered = {line for arc in seen for line in arc if line in lines}
    statements = {line for line in parser.statements if line in lines}
    return Reach(len(deciding & seen), len(deciding), len(statements & entered), len(statements))
