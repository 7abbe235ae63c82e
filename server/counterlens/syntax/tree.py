"""Traversal of tree-sitter trees, however deep."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import tree_sitter

from counterlens.errors import SourceError

TOO_DEEP = "the source is nested too deeply to be read"
SPLIT = "Split its longest expression, or its longest chain of elif"
_DEEP = 20_000


def descendants(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """A node and all its descendants, in source order, parents first, without recursion."""
    todo = [node]
    while todo:
        descendant = todo.pop()
        yield descendant
        todo += reversed(descendant.children)


def ancestors(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The nodes around a node, from the inside out."""
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


_turn = threading.Condition()
_deep_readers = 0
_is_lent = False
_usual_limit = 0


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raise the recursion limit for recursive work on a tree.

    Generated sources have expressions of a thousand nested parts, over which LibCST recurses.

    Raises:
        SourceError: the higher limit is too low, too.
    """
    global _deep_readers, _usual_limit
    with _turn:
        _turn.wait_for(lambda: not _is_lent)
        if not _deep_readers:
            _usual_limit = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_usual_limit, _DEEP))
        _deep_readers += 1
    try:
        yield
    except RecursionError:
        raise SourceError(TOO_DEEP, SPLIT) from None
    finally:
        with _turn:
            _deep_readers -= 1
            if not _deep_readers:
                sys.setrecursionlimit(_usual_limit)
                _turn.notify_all()


@contextmanager
def lent_recursion_limit() -> Iterator[None]:
    """Let a library set the recursion limit: meanwhile no other thread reads deeply, or lends it.

    The limit is one for all threads, and Hypothesis warns if somebody else changes it. Not to be used within
    `deep_recursion`.
    """
    global _is_lent
    with _turn:
        _turn.wait_for(lambda: not _is_lent and not _deep_readers)
        _is_lent = True
    try:
        yield
    finally:
        with _turn:
            _is_lent = False
            _turn.notify_all()
