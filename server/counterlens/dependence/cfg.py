"""The control-flow graph of one function: nodes, arcs, and the effects of each node.

A statement has one or more nodes: the header of a `for` evaluates the iterable, takes the next element or
leaves, and binds the target; a `finally` body is copied for every path into it, as in CPython. Nodes are
therefore finer than statements; dependence is reported between statements.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from counterlens.dependence.effects import Effects
from counterlens.dependence.post_dominance import immediate_post_dominators

ENTRY = 0
EXIT = 1
NOWHERE = -1  # the statement of a node that belongs to none


class Arc(IntEnum):
    """The kind of a transfer of control between nodes.

    Attributes:
        NEXT: Unconditional.
        TRUE: If the condition holds, there is another element, or the pattern matches.
        FALSE: Otherwise.
        RAISED: Possibly, by an implicit exception: for data flow, not for control dependence.
        PHANTOM: Never; only for control dependence, which needs a path from every node to the exit.
    """

    NEXT = 0
    TRUE = 1
    FALSE = 2
    RAISED = 3
    PHANTOM = 4


Loose = list[tuple[int, Arc]]
"""Arcs without a target yet, as pairs of source node and kind."""

_NOTHING = Effects()


@dataclass(frozen=True, slots=True)
class Stretch:
    """A contiguous part of the graph: the nodes from `first` to `last`, entered at `start`.

    Attributes:
        start: The entry node.
        first: The lowest node number.
        last: The highest node number.
    """

    start: int
    first: int
    last: int


class ControlFlowGraph:
    """A control-flow graph; node 0 is the entry, node 1 the exit.

    Attributes:
        statement: The statement of each node, or `NOWHERE`.
        effects: The reads and writes of each node.
        arcs: The successors of each node.
        deciding: Nodes on which others depend, but whose own control dependence is not that of their
            statement.
        completing: The nodes of `deciding` that mark the complete run of a `try` body, each with the node
            where the body began.
        around: Stretches that a node decides about, and about nothing else: its other arc leads to where
            control certainly leaves the stretch.
        copied: The nodes of each statement that has several copies.
    """

    def __init__(self, entry: int) -> None:
        self.statement: list[int] = [entry, NOWHERE]
        self.effects: list[Effects] = [_NOTHING, _NOTHING]
        self.arcs: list[list[tuple[int, Arc]]] = [[], []]
        self.deciding: set[int] = set()
        self.completing: dict[int, int] = {}
        self.around: dict[int, Stretch] = {}
        self.copied: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return len(self.statement)

    def node(self, statement: int, effects: Effects | None = None) -> int:
        """Add a node, and return its number."""
        self.statement.append(statement)
        self.effects.append(effects or _NOTHING)
        self.arcs.append([])
        return len(self.statement) - 1

    def connect(self, loose: Iterable[tuple[int, Arc]], target: int) -> None:
        """Connect loose arcs to their target."""
        for source, arc in loose:
            edge = (target, arc)
            if edge not in self.arcs[source]:
                self.arcs[source].append(edge)

    def control_arcs(self) -> list[list[tuple[int, Arc]]]:
        """The arcs for control dependence, with a path from every node to the exit.

        The entry also leads to the exit, so that the code that runs at every call depends on the entry
        (Ferrante et al., section 2).
        """
        arcs = [[edge for edge in each if edge[1] is not Arc.RAISED] for each in self.arcs]
        arcs[ENTRY].append((EXIT, Arc.PHANTOM))
        ends = _reaching_exit(arcs)
        if not all(ends):
            for node in range(len(arcs) - 1, -1, -1):
                if not ends[node]:
                    arcs[node].append((EXIT, Arc.PHANTOM))
                    ends = _reaching_exit(arcs)
        if self.around:
            above = immediate_post_dominators([[target for target, _ in each] for each in arcs], EXIT)
            for node, stretch in self.around.items():
                out = stretch.start
                while stretch.first <= out <= stretch.last:
                    out = above[out]
                arcs[node].append((out, Arc.PHANTOM))
        return arcs

    def data_successors(self) -> list[list[int]]:
        """The successors of each node in data flow."""
        return [[target for target, arc in each if arc is not Arc.PHANTOM] for each in self.arcs]

    def reachable(self) -> list[bool]:
        """Whether each node is reachable from the entry."""
        successors = self.data_successors()
        seen = [False] * len(self)
        seen[ENTRY] = True
        stack = [ENTRY]
        while stack:
            for target in successors[stack.pop()]:
                if not seen[target]:
                    seen[target] = True
                    stack.append(target)
        return seen


def _reaching_exit(arcs: list[list[tuple[int, Arc]]]) -> list[bool]:
    before: list[list[int]] = [[] for _ in arcs]
    for source, each in enumerate(arcs):
        for target, _ in each:
            before[target].append(source)
    seen = [False] * len(arcs)
    seen[EXIT] = True
    stack = [EXIT]
    while stack:
        for source in before[stack.pop()]:
            if not seen[source]:
                seen[source] = True
                stack.append(source)
    return seen
