"""Imports the runner in an interpreter that waits for programs, under the name that jobs ship it by.

Only our own modules and those of the standard library are imported here.
"""

from __future__ import annotations

from .shipped_loader import NAME, import_shipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

_MODULES = (
    "runner.session",
    "call_log",
    "runner.script",
    "runner.unittest_cases",
)


def import_runner(more: Sequence[str] = ()) -> list[ModuleType]:
    """Import the modules of every run, and return `more` of this package."""
    names = (*_MODULES, "imported_ahead", *more)
    ahead, *others = import_shipped([f"{NAME}.{name}" for name in names])[len(_MODULES) :]
    ahead.remember()
    return others


import_runner()
