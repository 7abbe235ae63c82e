"""Chains of dependence from a model, judged step by step against a graph (Xie et al. 2025, CoRe).

A trace names nodes, from what is depended on to what depends on it; each two neighbours are a step. A step is
right if the second depends directly on the first. A wrong one leaves nodes out if a chain leads there
all the same, and is false if none does. As in CoRe's own evaluation, the figures are over all questions
to which a trace is the answer: no trace has no right step, and leaves nothing out. Unlike there, a trace also
has to begin and end at what was asked about, to be a path.
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
    """The correct parts of one trace.

    Attributes:
        steps: How many steps it has.
        right: How many of them are direct dependences.
        false: The number that lead where no chain does.
        left_out: How many nodes are missing in the others, by the shortest chains.
        ends: Whether it begins and ends at what was asked about.
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
        """Whether it is a chain of direct dependences from the one to the other."""
        return self.correct and self.ends


@dataclass(frozen=True, slots=True)
class TraceFigures:
    """The traces of several questions; None if there is no question.

    Attributes:
        correct: The share of questions with a correct trace: CoRe's correct trace rate.
        path: The share with one that also leads from the one to the other.
        right: The mean share of right steps.
        false: The mean share of false steps.
        left_out: The mean number of nodes left out.
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


def judge(told: Sequence[Node], direct: Mapping[Node, Set[Node]], source: Node, target: Node) -> Trace:
    """Say what is right about a trace.

    Args:
        told: Its nodes in their order; fewer than two are no step.
        direct: For each node what depends directly on it.
        source: Its required start.
        target: Its required end.
    """
    right = false = left_out = 0
    steps = list(pairwise(told))
    for before, after in steps:
        if after in direct.get(before, frozenset()):
            right += 1
            continue
        between = distance(direct, before, after)
        if between is None:
            false += 1
        else:
            left_out += between - 1
    ends = bool(steps) and (told[0], told[-1]) == (source, target)
    return Trace(len(steps), right, false, left_out, ends)


def distance(direct: Mapping[Node, Set[Node]], source: Node, target: Node) -> int | None:
    """The number of steps in the shortest chain, at least one; None if none leads there."""
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
