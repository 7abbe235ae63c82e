"""`Intervention`: the kinds of changes of a statement."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.parts import Part, StatementEdits

StatementChange = Callable[[ExaminedFunction, Part], StatementEdits]
"""The edits that change one statement of a function; none where it cannot be changed so."""


class Intervention(StrEnum):
    """How a statement is changed."""

    RENAME = "rename"
    HIDE = "hide"
    REPLACE = "replace"
    DELETE = "delete"
    NEGATE = "negate"
    NEUTRALISE = "neutralise"
