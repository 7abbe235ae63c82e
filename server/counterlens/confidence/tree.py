"""Data of the tree view (AsC-Viz, Palacio et al. 2023, section V), drawn as tree or sequence.

There are three views, in the paper's terms. The partial tree of non-terminals is the default, because the
paper's users preferred it. Nodes are listed flat, parents before children, each with the index of its parent:
trees of broken or generated code are deeper than a call stack or a JSON reader allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

from counterlens.confidence.aggregate import Confidence
from counterlens.confidence.granularity import level_of
from counterlens.syntax.concepts import Category

_EXCERPT = 40
"""Characters of a node's text shown beside it."""


class TreeView(StrEnum):
    """The nodes that a view shows."""

    PARTIAL = "partial"
    """The syntax tree's non-terminals."""
    COMPLETE = "complete"
    """All its nodes."""
    SEQUENCE = "sequence"
    """The tokens in a row, without a tree."""


@dataclass(frozen=True, slots=True)
class TreeNode:
    """One row of a view: a syntax node, or a token of the sequence. It is written to JSON unchanged.

    Attributes:
        parent: Index of its parent in the view; -1 if it has none.
        depth: Number of nodes of the view that contain it.
        kind: The node type, such as `if_statement`; `token` for a token.
        category: Concept category; for a token, that of the innermost node at its start.
        start: First byte of the node.
        end: The byte after the node.
        line: The 0-based line of its first byte.
        text: Its source, one line, cut to 40 characters.
        value: Its confidence, 0 to 1: a node's aggregate, a token's probability; None if not scored.
        level: 0 to 5, least certain first, as in `granularity.LABELS`; None if not scored.
        minimum: The probability of its least certain token.
        bits: Its surprisal in bits.
        bits_per_byte: The same, divided by the number of its bytes; None for a token.
        leaf: Whether it has no children in the view.
    """

    parent: int
    depth: int
    kind: str
    category: Category
    start: int
    end: int
    line: int
    text: str
    value: float | None
    level: int | None
    minimum: float | None
    bits: float | None
    bits_per_byte: float | None
    leaf: bool


def tree(confidence: Confidence, view: TreeView = TreeView.PARTIAL) -> tuple[TreeNode, ...]:
    """The rows of a view, parents before children, in the order of the text."""
    return _sequence(confidence) if view is TreeView.SEQUENCE else _tree(confidence, view)


def within(rows: tuple[TreeNode, ...], start: int, end: int) -> tuple[TreeNode, ...]:
    """The part of a view in a byte range: the nodes inside it, or the tokens that touch it."""
    kept: list[TreeNode] = []
    place: dict[int, int] = {}
    for at, row in enumerate(rows):
        inside = start <= row.start and row.end <= end
        if inside or (row.kind == "token" and row.start < end and start < row.end):
            place[at] = len(kept)
            parent = place.get(row.parent, -1)
            depth = kept[parent].depth + 1 if parent >= 0 else 0
            kept.append(replace(row, parent=parent, depth=depth))
    return tuple(kept)


def _tree(confidence: Confidence, view: TreeView) -> tuple[TreeNode, ...]:
    shown = [i for i in range(len(confidence.nodes)) if view is TreeView.COMPLETE or i in confidence.parents]
    row_of = {i: row for row, i in enumerate(shown)}
    inner = {confidence.nodes[i].parent for i in shown}
    rows: list[TreeNode] = []
    for i in shown:
        node = confidence.nodes[i]
        parent = row_of.get(node.parent, -1)  # a node with a child is a non-terminal, so the view has it
        rows.append(
            TreeNode(
                parent=parent,
                depth=rows[parent].depth + 1 if parent >= 0 else 0,
                kind=node.kind,
                category=node.category,
                start=node.start,
                end=node.end,
                line=confidence.document.positions.line_of(node.start),
                text=_excerpt(confidence, node.start, node.end),
                value=node.confidence,
                level=None if node.confidence is None else level_of(node.confidence),
                minimum=node.minimum,
                bits=node.bits,
                bits_per_byte=node.bits_per_byte,
                leaf=i not in inner,
            )
        )
    return tuple(rows)


def _sequence(confidence: Confidence) -> tuple[TreeNode, ...]:
    scores = confidence.scores
    rows, at = [], 0
    stack: list[int] = []
    for token in range(len(scores)):
        start, end = int(scores.start[token]), int(scores.end[token])
        while at < len(confidence.nodes) and confidence.nodes[at].start <= start:
            while stack and confidence.nodes[stack[-1]].end <= confidence.nodes[at].start:
                stack.pop()
            stack.append(at)
            at += 1
        while stack and confidence.nodes[stack[-1]].end <= start:
            stack.pop()
        scored = not math.isnan(scores.logprob[token])
        value = math.exp(scores.logprob[token]) if scored else None
        rows.append(
            TreeNode(
                parent=-1,
                depth=0,
                kind="token",
                category=confidence.nodes[stack[-1]].category if stack else Category.STRUCTURE,
                start=start,
                end=end,
                line=confidence.document.positions.line_of(start),
                text=_excerpt(confidence, start, end),
                value=value,
                level=None if value is None else level_of(value),
                minimum=value,
                bits=max(0.0, -float(scores.logprob[token]) / math.log(2)) if scored else None,
                bits_per_byte=None,
                leaf=True,
            )
        )
    return tuple(rows)


def _excerpt(confidence: Confidence, start: int, end: int) -> str:
    """The text of a byte range in one short line."""
    text = confidence.document.data[start : min(end, start + 8 * _EXCERPT)].decode("utf-8", "replace")
    line = " ".join(text.split()) if text.strip() else text.encode("unicode_escape").decode()
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"
