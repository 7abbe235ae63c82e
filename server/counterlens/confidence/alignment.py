"""The alignment function of Palacio et al. 2023 (section III-B): it assigns tokens to syntax nodes.

Tokenizers ignore syntax: one token may contain a blank and the name after it, two closing brackets, or half a
character. Two rules assign such a token:

- `overlap` (the paper's; the default): it belongs to every node with which it shares a byte. No node with
  more than blanks is without a token, and a token that spans two nodes counts for both.
- `start`: it belongs to the nodes that contain its first non-blank byte. Every token counts once at each
  level of the tree; a node inside a token that began before it has none.

In both cases a node's tokens are consecutive. A token of only blanks is assigned by its first byte.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import tree_sitter

from counterlens.models.base import TokenScores


class Rule(StrEnum):
    """The rule that assigns tokens that span two nodes."""

    OVERLAP = "overlap"
    START = "start"


def nodes(tree: tree_sitter.Tree) -> Iterator[tree_sitter.Node]:
    """All nodes of a tree, including terminals, parents before children, in the order of the text."""
    return (node for node, _ in with_parents(tree))


def with_parents(
    tree: tree_sitter.Tree, within: Sequence[tuple[int, int]] | None = None
) -> Iterator[tuple[tree_sitter.Node, int]]:
    """The same, each with the index of its parent in that order; -1 for the root.

    Args:
        within: Byte ranges in the order of the text; nodes that touch none of them are left out.
    """
    cursor = tree.walk()
    ends = [end for _, end in within or ()]
    path: list[int] = []  # the indices of the nodes around the cursor, outermost first
    count = 0
    while True:
        node = cursor.node
        if node is not None and (within is None or _touches(node, within, ends)):
            yield node, path[-1] if path else -1
            path.append(count)
            count += 1
            if cursor.goto_first_child():
                continue
            path.pop()
        if cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            path.pop()
            if cursor.goto_next_sibling():
                break
        else:
            return


def _touches(node: tree_sitter.Node, within: Sequence[tuple[int, int]], ends: Sequence[int]) -> bool:
    at = bisect.bisect_left(ends, node.start_byte)
    return at < len(ends) and within[at][0] <= node.end_byte


def align(
    scores: TokenScores,
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    rule: Rule = Rule.OVERLAP,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The tokens of each of m byte ranges.

    Args:
        scores: Scores of n tokens.
        start: (m,) first bytes.
        end: (m,) bytes after the last.
        rule: The rule that assigns tokens that span two ranges.

    Returns:
        Two (m,) arrays: the first token and the one after the last; equal if there is none.
    """
    if rule is Rule.START:
        anchors = _anchors(scores)
        first = np.searchsorted(anchors, start, side="left")
        last = np.searchsorted(anchors, end, side="left")
    else:
        first = np.searchsorted(scores.end, start, side="right")
        last = np.searchsorted(scores.start, end, side="left")
    empty = end <= start
    return first, np.where(empty, first, np.maximum(first, last))


def blank(data: bytes) -> npt.NDArray[np.bool_]:
    """(size,) whether each byte is an ASCII blank: space, tab, line end, form feed."""
    return np.isin(np.frombuffer(data, np.uint8), np.frombuffer(b" \t\n\r\f\v", np.uint8))


def _anchors(scores: TokenScores) -> npt.NDArray[np.int64]:
    """(n,) first non-blank byte of each token, or its first byte if all are blank. Never decreasing."""
    solid = np.flatnonzero(~blank(scores.text.encode("utf-8", "surrogatepass")))
    following = np.append(solid, np.iinfo(np.int64).max)[np.searchsorted(solid, scores.start, side="left")]
    return np.where(following < scores.end, following, scores.start)
