"""Python's own syntax trees, parsed by one thread at a time.

CPython 3.11 counts the depth of the tree under construction per interpreter, not per call: if two threads
parse simultaneously, one can fail with `SystemError: AST constructor recursion depth mismatch`
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
"""Reentrant, because the garbage collector may run this package's code during a parse."""


def parse_module(source: str | bytes) -> ast.Module:
    """Parse a module.

    Raises:
        SyntaxError: it is not valid Python.
        ValueError: it contains null bytes.
        RecursionError, MemoryError: it is nested too deeply.
    """
    with _ONE_AT_A_TIME:
        return ast.parse(source)


def parse_expression(source: str | bytes) -> ast.expr:
    """Parse one expression; raises the errors of `parse_module`."""
    with _ONE_AT_A_TIME:
        return ast.parse(source, mode="eval").body


def first_line(node: ast.stmt) -> int:
    """The first line of a statement, 1-based: that of its first decorator, if it has one."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])
