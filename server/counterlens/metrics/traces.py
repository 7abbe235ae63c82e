"""Chains of dependence from a model, judged step by step against a graph (Xie et al. 2025, CoRe).

A trace lists nodes, from source to dependent; each two neighbours are a step. A step is right if the second
node depends directly on the first. A wrong step leaves nodes out if there is still a chain between its nodes,
and is false if there is none. As in CoRe's own evaluation, the figures are over all questions whose answer is
a trace: an empty trace has no right step, and leaves nothing out. In addition, a path here must begin and end
at the nodes of the question.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from counterlens.metrics.bootstrap import mean

Node = TypeVar("Node", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Trace:
    """The evaluation of one trace.

    Attributes:
        steps: Number of steps.
        right: Number of steps that are direct dependences.
        false: Number of steps without a chain between their nodes.
        left_out: Number of nodes left out in the other steps, by the shortest chains.
        ends: Whether it begins and ends at the nodes of the question.
    """

    steps: int = 0
    right: int = 0
    false: int = 0
    left_out: int = 0
    ends: bool = False

    @property
    def correct(self) -> bool:
        """Whether it has steps, and all are right: CoRe's correct trace."""
        return 0 < self.steps == self.right

    @property
    def path(self) -> bool:
        """Whether it is a chain of direct dependences between the nodes of the question."""
        return self.correct and self.ends


@dataclass(frozen=True, slots=True)
class TraceFigures:
    """Figures over the traces of several questions; None if there is no question.

    Attributes:
        correct: Share of questions with a correct trace: CoRe's correct trace rate.
        path: Share of questions with a path between their nodes.
        right: Mean share of right steps.
        false: Mean share of false steps.
        left_out: Mean number of nodes left out.
    """

    correct: float | None
    path: float | None
    right: float | None
    false: float | None
    left_out: float | None

    @classmethod
    def of(cls, traces: Sequence[Trace]) -> TraceFigures:
        """Average over questions."""
        return cls(
            mean(trace.correct for trace in traces),
            mean(trace.path for trace in traces),
            mean(trace.right / trace.steps if trace.steps else 0.0 for trace in traces),
            mean(trace.false / trace.steps if trace.steps else 0.0 for trace in traces),
            mean(trace.left_out for trace in traces),
        )


def judge(nodes: Sequence[Node], direct: Mapping[Node, Set[Node]], source: Node, target: Node) -> Trace:
    """Evaluate a trace.

    Args:
        nodes: Its nodes in order; fewer than two make no step.
        direct: For each node, the nodes that depend directly on it.
        source: Its required start.
        target: Its required end.
    """
    right = false = left_out = 0
    steps = list(pairwise(nodes))
    for before, after in steps:
        if after in direct.get(before, frozenset()):
            right += 1
            continue
        between = distance(direct, before, after)
        if between is None:
            false += 1
        else:
            left_out += between - 1
    ends = bool(steps) and (nodes[0], nodes[-1]) == (source, target)
    return Trace(len(steps), right, false, left_out, ends)


def distance(direct: Mapping[Node, Set[Node]], source: Node, target: Node) -> int | None:
    """The number of steps in the shortest chain, at least one; None if there is no chain."""
    reached: deque[tuple[Node, int]] = deque([(source, 0)])
    seen: set[Node] = set()
    while reached:
        node, steps = reached.popleft()
        for after in direct.get(node, frozenset()) - seen:
            if after == target:
                return steps + 1
            seen.add(after)
            reached.append((after, steps + 1))
    return None
