"""`Intervention`: the kinds of changes to a statement."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.parts import Part, StatementEdits

StatementChange = Callable[[ExaminedFunction, Part], StatementEdits]
"""The edits that change one statement of a function; none if it cannot be changed that way."""


class Intervention(StrEnum):
    """The kind of change to a statement."""

    RENAME = "rename"
    HIDE = "hide"
    REPLACE = "replace"
    DELETE = "delete"
    NEGATE = "negate"
    NEUTRALISE = "neutralise"
