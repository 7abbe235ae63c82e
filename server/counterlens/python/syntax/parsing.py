"""Python's own syntax trees, parsed while the garbage collector is off.

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
from threading import Lock

WORDS = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | frozenset(keyword.softkwlist)
"""Keywords and built-in names."""


class _Collector:
    """The garbage collector, off while at least one thread parses: nobody waits for another's parse."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._parses = 0
        self._was_on = False

    def pause(self) -> None:
        with self._lock:
            if not self._parses:
                self._was_on = gc.isenabled()
                gc.disable()
            self._parses += 1

    def resume(self) -> None:
        with self._lock:
            self._parses -= 1
            if not self._parses and self._was_on:
                gc.enable()


_COLLECTOR = _Collector()


@contextmanager
def undisturbed() -> Iterator[None]:
    """A context in which a library may parse, too."""
    _COLLECTOR.pause()
    try:
        yield
    finally:
        _COLLECTOR.resume()


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
