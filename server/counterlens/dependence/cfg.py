"""The control-flow graph of one function: nodes, arcs, and the effects of each node.

A statement has one or more nodes: the header of a `for` evaluates the iterable, takes the next element or
leaves, and binds the target; a `finally` body is copied for every path into it, as in CPython. Nodes are
therefore finer than statements; dependence is reported between statements.

Below: post-dominance, and control dependence after Ferrante, Ottenstein and Warren.

The iterative algorithm of Cooper, Harvey and Kennedy ("A simple, fast dominance algorithm", 2001) finds
immediate post-dominators, on the reversed graph. Control dependence follows section 3.1.1 of Ferrante,
Ottenstein and Warren ("The program dependence graph and its use in optimization", TOPLAS 9(3), 1987): for an
arc a -> b where b does not post-dominate a, every node on the path in the post-dominator tree from b up to,
but excluding, the immediate post-dominator of a is control dependent on a. The head of a loop depends on
itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from counterlens.dependence.effects import Effects

ENTRY = 0
EXIT = 1
NOWHERE = -1  # the statement of a node that belongs to none
_NOTHING = Effects()


def immediate_post_dominators(successors: Sequence[Sequence[int]], end: int) -> list[int]:
    """The immediate post-dominator of each node.

    Args:
        successors: The successors of each node; every node reaches `end`.
        end: The exit node, to which all paths lead.

    Returns:
        One node for each node; `end` for `end` itself.
    """
    order = _reverse_postorder(successors, end)
    rank = [0] * len(successors)  # position in the order: small is near `end`
    for position, node in enumerate(order):
        rank[node] = position
    above = [-1] * len(successors)
    above[end] = end
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            new = -1
            for after in successors[node]:
                if above[after] >= 0:
                    new = after if new < 0 else _nearest(new, after, above, rank)
            if above[node] != new:
                above[node] = new
                changed = True
    return above


def _nearest(node: int, other: int, above: list[int], rank: list[int]) -> int:
    """The nearest common post-dominator of two nodes."""
    while node != other:
        while rank[node] > rank[other]:
            node = above[node]
        while rank[other] > rank[node]:
            other = above[other]
    return node


def control_dependence(successors: Sequence[Sequence[int]], end: int) -> Iterator[tuple[int, int, int]]:
    """Direct control dependence as (branch, index of its arc, dependent node)."""
    above = immediate_post_dominators(successors, end)
    for branch, targets in enumerate(successors):
        if len(targets) > 1:
            stop = above[branch]
            for arc, target in enumerate(targets):
                node = target
                while node != stop:
                    yield branch, arc, node
                    node = above[node]


def joint_control_dependence(
    successors: Sequence[Sequence[int]], end: int, copies: set[int]
) -> Iterator[tuple[int, int]]:
    """Direct control dependence of a statement with several copies, as (branch, index of its arc).

    The definition is the same, with "every path to the end contains a copy" instead of post-dominance.
    """
    before: list[list[int]] = [[] for _ in successors]
    for node, targets in enumerate(successors):
        for target in targets:
            before[target].append(node)
    avoids = [False] * len(successors)  # whether a path to the end avoids all copies
    avoids[end] = True
    stack = [end]
    while stack:
        for node in before[stack.pop()]:
            if not avoids[node] and node not in copies:
                avoids[node] = True
                stack.append(node)
    for branch, targets in enumerate(successors):
        if len(targets) > 1 and any(avoids[target] for target in targets):
            for arc, target in enumerate(targets):
                if not avoids[target]:
                    yield branch, arc


def _reverse_postorder(successors: Sequence[Sequence[int]], end: int) -> list[int]:
    """The nodes in reverse postorder of the reversed graph, `end` first."""
    before: list[list[int]] = [[] for _ in successors]
    for node, targets in enumerate(successors):
        for target in targets:
            before[target].append(node)
    order: list[int] = []
    seen = [False] * len(successors)
    seen[end] = True
    stack = [(end, iter(before[end]))]
    while stack:
        node, rest = stack[-1]
        for source in rest:
            if not seen[source]:
                seen[source] = True
                stack.append((source, iter(before[source])))
                break
        else:
            order.append(node)
            stack.pop()
    order.reverse()
    return order


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
