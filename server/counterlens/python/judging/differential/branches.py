"""Branch coverage of one function, counted as coverage.py does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock

from counterlens.python.syntax.parsing import undisturbed

_IMPORTING = Lock()
"""coverage.py's modules import each other: two threads that import them at once can fail."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Coverage of a function.

    Attributes:
        taken: Branches that were taken; a branch is one of several exits of a line.
        total: All branches.
        lines: Executed lines.
        all_lines: Executable lines.
    """

    taken: int
    total: int
    lines: int
    all_lines: int

    @property
    def share(self) -> float:
        """The share of branches taken, or of lines executed if there are no branches; between 0 and 1."""
        if self.total:
            return self.taken / self.total
        return self.lines / self.all_lines if self.all_lines else 1.0

    def __str__(self) -> str:
        if self.total:
            return f"{self.taken} of {self.total} branches"
        return f"{self.lines} of {self.all_lines} lines, no branches"


def reach(text: str, lines: range, arcs: Iterable[tuple[int, int]]) -> Reach:
    """The coverage of some lines.

    Args:
        text: The source.
        lines: The lines of the function's body, 1-based.
        arcs: Pairs of consecutively executed lines; negative numbers are entries and exits.
    """
    # Imported here, so that starts that do not need it are not slowed.
    with _IMPORTING:
        from coverage.exceptions import CoverageException
        from coverage.parser import PythonParser

    parser = PythonParser(text=text)
    try:
        with undisturbed():
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
