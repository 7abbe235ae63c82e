"""Post-dominance, and control dependence after Ferrante, Ottenstein and Warren.

The iterative algorithm of Cooper, Harvey and Kennedy ("A simple, fast dominance algorithm", 2001) finds
immediate post-dominators, on the reversed graph. Control dependence follows section 3.1.1 of Ferrante,
Ottenstein and Warren ("The program dependence graph and its use in optimization", TOPLAS 9(3), 1987): for an
arc a -> b where b does not post-dominate a, every node on the path in the post-dominator tree from b up to,
but excluding, the immediate post-dominator of a is control dependent on a. The head of a loop depends on
itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence


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
