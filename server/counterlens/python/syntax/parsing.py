"""Python's own syntax trees, parsed by one thread at a time and without the garbage collector.

CPython 3.11 counts the depth of the tree under construction per interpreter, not per call: a parse that
begins in the middle of another one makes it fail with `SystemError: AST constructor recursion depth
mismatch` (python/cpython#106905). Only the garbage collector can begin one there: its finalizers run
Python code, which may parse itself or hand over to another thread.
"""

from __future__ import annotations

import ast
import builtins
import gc
import keyword
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

WORDS = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | frozenset(keyword.softkwlist)
"""Keywords and built-in names."""
_ONE_AT_A_TIME = RLock()
"""Reentrant, because a warning that the parser gives may run this package's code."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """A context in which a library may parse, too."""
    with _ONE_AT_A_TIME:
        collecting = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if collecting:
                gc.enable()


def parse_module(source: str | bytes) -> ast.Module:
    """Parse a module.

    Raises:
        SyntaxError: it is not valid Python.
        ValueError: it contains null bytes.
        RecursionError, MemoryError: it is nested too deeply.
    """
    with undisturbed():
        return ast.parse(source)


def parse_expression(source: str | bytes) -> ast.expr:
    """Parse one expression; raises the errors of `parse_module`."""
    with undisturbed():
        return ast.parse(source, mode="eval").body


def first_line(node: ast.stmt) -> int:
    """The first line of a statement, 1-based: that of its first decorator, if it has one."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])
