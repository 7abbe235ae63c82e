"""The control-flow graph of one function: nodes, arcs, and what each node does.

A statement has one node or several: the header of a `for` is evaluating what is iterated over, taking the
next element or leaving, and binding the target; a `finally` body is laid out once for every way that leads
into it, as CPython does. So nodes are finer than statements; dependence is reported between statements.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from counterlens.dependence.effects import Effects
from counterlens.dependence.post_dominance import immediate_post_dominators

ENTRY = 0
EXIT = 1
NOWHERE = -1  # the statement of a node that stands for none


class Arc(IntEnum):
    """How control gets from one node to the next.

    Attributes:
        NEXT: It does.
        TRUE: If the condition holds, there is another element, the pattern matches.
        FALSE: If not.
        RAISED: Perhaps, by an implicit exception: data flows, control dependence does not see it.
        PHANTOM: Never; for control dependence alone, which needs a way from every node to the exit.
    """

    NEXT = 0
    TRUE = 1
    FALSE = 2
    RAISED = 3
    PHANTOM = 4


Loose = list[tuple[int, Arc]]
"""Arcs whose end is not known yet, by their start."""

_NOTHING = Effects()


@dataclass(frozen=True, slots=True)
class Stretch:
    """The subgraph between the entry and the exit of a node: the nodes from `first` to `last`.

    Attributes:
        start: The entry.
        first: The lowest of its nodes.
        last: The highest.
    """

    start: int
    first: int
    last: int


class ControlFlowGraph:
    """Nodes are numbered from 0 (the entry) and 1 (the exit).

    Attributes:
        statement: The statement of each node, or `NOWHERE`.
        effects: The reads and writes of each node.
        arcs: The successors of each node.
        deciding: Nodes that others depend on, and whose own control dependence is not their statement's.
        completing: Those of them that say that the body of a `try` came to its end, and where it began.
        around: Stretches that a node decides about and nothing else: where it goes otherwise is where control
            comes out of the stretch, whatever happens in it.
        copied: The nodes of each statement that is laid out more than once.
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
        """Add a node."""
        self.statement.append(statement)
        self.effects.append(effects or _NOTHING)
        self.arcs.append([])
        return len(self.statement) - 1

    def connect(self, loose: Iterable[tuple[int, Arc]], target: int) -> None:
        """Give loose arcs their end."""
        for source, arc in loose:
            edge = (target, arc)
            if edge not in self.arcs[source]:
                self.arcs[source].append(edge)

    def control_arcs(self) -> list[list[tuple[int, Arc]]]:
        """The arcs that control dependence is about, with a way from every node to the exit.

        The entry leads to the exit, too: what runs at every call then depends on the entry (Ferrante et al.,
        section 2).
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
        """The data flow from each node."""
        return [[target for target, arc in each if arc is not Arc.PHANTOM] for each in self.arcs]

    def reachable(self) -> list[bool]:
        """Whether each node can be reached from the entry at all."""
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
