"""Programs with a stand-in for a function: tests that also pass with one do not check the function."""

from __future__ import annotations

import ast

from counterlens.attribution.differential.testable import find_node
from counterlens.python.syntax.parsing import parse_module

STAND_INS = ("pass", "return 42")
"""Bodies that should fail every function's tests."""
OVERLOOKED = "the tests also pass with `{stand_in}` as the body, so they do not check its behaviour"


def body_lines(text: str, qualname: str) -> range | None:
    """The lines of a function's body, without header and docstring, 1-based; None if it is not found."""
    try:
        found, _ = find_node(parse_module(text), qualname)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if found is None:
        return None
    first = found.body[1 if ast.get_docstring(found) is not None and len(found.body) > 1 else 0]
    return range(first.lineno, (found.end_lineno or first.lineno) + 1)


def stand_ins(text: str, qualname: str) -> dict[str, str]:
    """For each stand-in, a program with it as the function's body; empty if the body shares a line."""
    lines = body_lines(text, qualname)
    if lines is None:
        return {}
    every = text.splitlines(keepends=True)
    first = every[lines[0] - 1]
    indent = first[: len(first) - len(first.lstrip())]
    if not indent or first.lstrip().startswith(("def ", "async def ", "class ", "@")):
        return {}
    before, after = "".join(every[: lines[0] - 1]), "".join(every[lines[-1] :])
    return {stand_in: f"{before}{indent}{stand_in}\n{after}" for stand_in in STAND_INS}
