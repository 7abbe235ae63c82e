"""Upper bound on the side effects of code, as computed by `mutation.py`.

`dependence/effects.py` answers another question: which definitions a statement makes and reads, in order of
evaluation and as people understand the code. There an unknown call changes nothing; here it may do anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from counterlens.python.mutations.variables import Variable


class Heap(IntEnum):
    """Access of code to objects that other code may hold."""

    NONE = 0
    READ = 1
    WRITE = 2


@dataclass(slots=True)
class SideEffects:
    """The possible effects of a piece of code, over-approximated.

    Attributes:
        reads: Variables that it reads.
        writes: Variables that it binds or deletes.
        heap: Its access to objects.
        raises: It may raise, or not terminate.
        opaque: It may run unknown code.
        yields: It may suspend (`yield`, `await`), or declares a name.
        jumps: It may `break` or `continue` a loop around it.
        exits: It may `return` or `raise`.
        operators: It relies on the assumption that operators and known methods have no side effects.
    """

    reads: set[Variable] = field(default_factory=set)
    writes: set[Variable] = field(default_factory=set)
    heap: Heap = Heap.NONE
    raises: bool = False
    opaque: bool = False
    yields: bool = False
    jumps: bool = False
    exits: bool = False
    operators: bool = False

    @property
    def inert(self) -> bool:
        """Whether running it has no effect beyond its value and the variables that it binds."""
        return not (self.opaque or self.yields or self.jumps or self.exits or self.heap is Heap.WRITE)

    def include(self, other: SideEffects) -> None:
        """Add the effects of another piece of code."""
        self.reads |= other.reads
        self.writes |= other.writes
        self.heap = max(self.heap, other.heap)
        for flag in ("raises", "opaque", "yields", "jumps", "exits", "operators"):
            setattr(self, flag, getattr(self, flag) or getattr(other, flag))

    def touches(self, heap: Heap) -> None:
        """Record an access to objects."""
        self.heap = max(self.heap, heap)
