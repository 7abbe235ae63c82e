"""The alignment function of paper 001 (section III-B): which tokens belong to which syntax node.

A token belongs to every node that it shares a byte with. So a token that straddles two nodes, such as one
that holds a blank and the name after it or two closing brackets, counts for both.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import tree_sitter

from counterlens.models.base import TokenScores


def nodes(tree: tree_sitter.Tree) -> Iterator[tree_sitter.Node]:
    """All nodes of a tree, terminals too, parents before children, in the order of the text."""
    cursor = tree.walk()
    while True:
        if cursor.node is not None:
            yield cursor.node
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return


def align(
    scores: TokenScores, start: npt.NDArray[np.int64], end: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The tokens that overlap each of m byte ranges.

    Args:
        scores: n tokens.
        start: (m,) first bytes.
        end: (m,) bytes after the last.

    Returns:
        Two (m,) arrays: the first token and the one after the last; equal where there is none.
    """
    first = np.searchsorted(scores.end, start, side="right")
    last = np.searchsorted(scores.start, end, side="left")
    empty = end <= start
    return first, np.where(empty, first, np.maximum(first, last))
