"""Python's own syntax trees, read by one thread at a time.

CPython 3.11 counts the depth of the tree that it builds for the whole interpreter, not per call: of two
threads that parse side by side one can end in `SystemError: AST constructor recursion depth mismatch`
(python/cpython#106905).
"""

from __future__ import annotations

import ast
import builtins
import keyword
from threading import RLock

WORDS = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | frozenset(keyword.softkwlist)
"""Keywords and built-in names."""
_ONE_AT_A_TIME = RLock()
"""Reentrant: the garbage collector may run code of ours in the middle of a parse."""


def parse_module(source: str | bytes) -> ast.Module:
    """The tree of a module.

    Raises:
        SyntaxError: it is not valid Python.
        ValueError: it has null bytes.
        RecursionError, MemoryError: it is nested too deeply.
    """
    with _ONE_AT_A_TIME:
        return ast.parse(source)


def parse_expression(source: str | bytes) -> ast.expr:
    """The tree of one expression; raises what `parse_module` raises."""
    with _ONE_AT_A_TIME:
        return ast.parse(source, mode="eval").body
