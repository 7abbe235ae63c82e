"""Prompt and completion in one syntax tree (Palacio et al. 2023, Figure 1), as rows in the order of the text.

The completion is included node by node; of the prompt only the code around and before it, one row per
statement, so that the tree stays as small as the completion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from counterlens.confidence import NodeConfidence
from counterlens.explaining.completing import Departure, Explained, WrittenToken, tokens_between

_DEFINITION = "function_definition"
_HEADER = frozenset({"identifier", "parameters", "type"})
"""Node types that the header of a definition already shows."""
_QUOTES = frozenset({"string_start", "string_end"})


class NodeOrigin(StrEnum):
    """The origin of a node."""

    AROUND = "around"
    """It begins in the prompt and continues in the completion."""
    PROMPT = "prompt"
    WRITTEN = "written"


@dataclass(frozen=True, slots=True)
class WrittenNode:
    """A row of the tree.

    Attributes:
        kinds: Its node type; if nodes contain only one other node each, their types, outermost first.
        depth: Number of rows around it.
        text: Its source in one line; for a node around the completion, only its first line.
        line: Its line in the completed program, 1-based.
        confidence: Mean probability of its tokens; None if not scored.
        minimum: Probability of its least likely token.
        least: That token, with the likely alternatives.
        error: Whether it does not parse.
        departure: The first difference, if it is in this row and in no inner one.
    """

    kinds: tuple[str, ...]
    origin: NodeOrigin
    depth: int
    text: str
    line: int
    confidence: float | None
    minimum: float | None
    least: WrittenToken | None
    error: bool
    departure: Departure | None


@dataclass(frozen=True, slots=True)
class _Shown:
    """A row without its content: the nodes from `first` to `last`, each filled by the next one."""

    first: int
    last: int
    origin: NodeOrigin
    depth: int


def completion_tree(explained: Explained) -> tuple[WrittenNode, ...]:
    """The rows of a completion: its function, the code around and before it, and the whole completion."""
    shown, gone = _shown_nodes(explained), explained.departure
    departing = None
    if gone is not None:
        around = [row for row in shown if _holds(explained.scored.nodes[row.first], gone.offset, row.origin)]
        departing = around[-1] if around else None
    return tuple(_row(explained, row, gone if row is departing else None) for row in shown)


def _shown_nodes(explained: Explained) -> list[_Shown]:
    nodes, root = explained.scored.nodes, _function(explained)
    shown: list[_Shown] = []
    row_of: dict[int, _Shown] = {}
    passed = -1
    for i in range(root, len(nodes)):
        if i > root and nodes[i].depth <= nodes[root].depth:
            break
        origin = _origin(nodes, i, root, explained)
        if origin is None or i <= passed:
            continue
        passed = i
        while origin is NodeOrigin.WRITTEN and (inner := _only_child(nodes, passed)) is not None:
            passed = inner
        # the row that contains a node
        parent = nodes[i].parent
        while parent >= 0 and parent not in row_of:
            parent = nodes[parent].parent
        above = row_of.get(parent)
        shown.append(_Shown(i, passed, origin, above.depth + 1 if above else 0))
        row_of.update(dict.fromkeys(range(i, passed + 1), shown[-1]))
    return shown


def _function(explained: Explained) -> int:
    """The innermost definition in which the completion begins; the root if there is none."""
    around = [
        i
        for i, node in enumerate(explained.scored.nodes)
        if node.kind == _DEFINITION and node.start < explained.start <= node.end
    ]
    return around[-1] if around else 0


def _origin(nodes: Sequence[NodeConfidence], i: int, root: int, explained: Explained) -> NodeOrigin | None:
    """The origin of a node; None if it has no row."""
    node = nodes[i]
    if node.start >= node.end or not (node.named or node.kind == "ERROR") or node.start >= explained.end:
        return None
    if node.start >= explained.start:
        return None if node.kind in _QUOTES else NodeOrigin.WRITTEN
    if node.end > explained.start:
        return NodeOrigin.AROUND if node.kind != "block" else None
    parent = nodes[node.parent]
    if parent.end <= explained.start or (
        parent.kind == _DEFINITION and node.kind in _HEADER and node.parent == root
    ):
        return None
    return NodeOrigin.PROMPT


def _only_child(nodes: Sequence[NodeConfidence], i: int) -> int | None:
    """The only child of a node, if it covers the whole node."""
    if i + 1 >= len(nodes) or nodes[i + 1].parent != i:
        return None
    inner = nodes[i + 1]
    same = (inner.start, inner.end) == (nodes[i].start, nodes[i].end)
    return i + 1 if inner.named and same and nodes[i].kind != "ERROR" else None


def _holds(node: NodeConfidence, at: int, origin: NodeOrigin) -> bool:
    return origin is not NodeOrigin.PROMPT and node.start <= at < node.end


def _row(explained: Explained, shown: _Shown, departure: Departure | None) -> WrittenNode:
    scored, origin = explained.scored, shown.origin
    nodes = scored.nodes[shown.first : shown.last + 1]
    node = nodes[0]
    text = scored.document.data[node.start : node.end].decode("utf-8", "replace").strip()
    is_completion = origin is NodeOrigin.WRITTEN
    tokens = tokens_between(scored, node.start, node.end) if is_completion else ()
    likely = [token for token in tokens if token.probability is not None and token.text.strip()]
    return WrittenNode(
        kinds=tuple(member.kind for member in nodes),
        origin=origin,
        depth=shown.depth,
        text=text.splitlines()[0] if origin is NodeOrigin.AROUND and text else " ".join(text.split()),
        line=scored.document.positions.line_of(node.start) + 1,
        confidence=node.confidence if is_completion else None,
        minimum=node.minimum if is_completion else None,
        least=min(likely, key=lambda token: token.probability or 0.0) if likely else None,
        error=node.kind == "ERROR",
        departure=departure,
    )
