"""Modules that a warm interpreter has imported in advance, but a project replaces by its own."""

from __future__ import annotations

import builtins
import os
import sys

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
_ALWAYS = {
    "random",
    "heapq",
    "statistics",
    "string",
    "copy",
    "bisect",
    "queue",
    "fractions",
    "uuid",
    "hypothesis",
}
_NOTED = "imported_ahead"


def note(names: frozenset[str]) -> None:
    """Record top-level modules that only `pytest_warm.py` imported, on pytest, which stays imported."""
    setattr(sys.modules["pytest"], _NOTED, names)


def forget_hidden(roots: list[str]) -> None:
    """Remove modules that were imported in advance from `sys.modules` if the project has one of that name.

    Args:
        roots: The folders that the project's packages are imported from.
    """
    ahead = _ALWAYS | getattr(sys.modules.get("pytest"), _NOTED, frozenset())
    for root in roots:
        try:
            names = {name.partition(".")[0] for name in os.listdir(root)}  # noqa: PTH208
        except OSError:
            continue
        for name in names & ahead:
            for known in [known for known in sys.modules if known.partition(".")[0] == name]:
                del sys.modules[known]
