"""Upper bound on the side effects of a piece of code, as computed by `effect_analysis.py`.

`dependence/effects.py` is another question: which definitions a statement makes and reads, in the order of
evaluation and as people see them. There an unknown call changes nothing; here it may do anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from counterlens.mutations.variables import Variable


class Heap(IntEnum):
    """How code touches objects that others may hold."""

    NONE = 0
    READ = 1
    WRITE = 2


@dataclass(slots=True)
class SideEffects:
    """The possible effects of a piece of code, over-approximated.

    Attributes:
        reads: Variables that it reads.
        writes: Variables that it binds or deletes.
        heap: How it touches objects.
        raises: It may raise, or not end.
        opaque: It may run code that is not known.
        yields: It may hand control to someone else in between (`yield`, `await`), or declares a name.
        jumps: It may `break` or `continue` a loop around it.
        exits: It may `return` or `raise`.
        operators: It relies on operators and known methods to have no side effects.
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
        """Whether its run is visible only in its value and the variables it binds."""
        return not (self.opaque or self.yields or self.jumps or self.exits or self.heap is Heap.WRITE)

    def include(self, other: SideEffects) -> None:
        """Add all that another piece of code can do."""
        self.reads |= other.reads
        self.writes |= other.writes
        self.heap = max(self.heap, other.heap)
        for flag in ("raises", "opaque", "yields", "jumps", "exits", "operators"):
            setattr(self, flag, getattr(self, flag) or getattr(other, flag))

    def touches(self, heap: Heap) -> None:
        """Note that objects are touched."""
        self.heap = max(self.heap, heap)
