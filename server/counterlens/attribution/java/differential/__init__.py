"""Differential execution of Java: does a method do the same as the original on the same inputs?

from counterlens.attribution.java.differential import find, find_out
"""

from __future__ import annotations

from counterlens.attribution.base import Setting
from counterlens.attribution.differential.comparing import Studies, Untestable
from counterlens.attribution.java.bench import CompilerStoppedError
from counterlens.attribution.java.differential.judge import JavaDifferentialJudge
from counterlens.attribution.java.differential.original import JavaOriginal, study
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

__all__ = ["JavaDifferentialJudge", "JavaOriginal", "Untestable", "find", "find_out", "study", "why_not"]

_STUDIES: Studies[JavaOriginal] = Studies()


def find(document: Document, function: Function, setting: Setting) -> JavaDifferentialJudge | None:
    """The judge by differential execution; None if a method cannot be judged that way."""
    found = find_out(document, function, setting)
    return JavaDifferentialJudge(found) if isinstance(found, JavaOriginal) else None


def why_not(document: Document, function: Function, setting: Setting) -> str | None:
    """Why a method cannot be judged by its behaviour; None if it can."""
    found = find_out(document, function, setting)
    return found.reason if isinstance(found, Untestable) else None


def find_out(document: Document, function: Function, setting: Setting) -> JavaOriginal | Untestable:
    """The behaviour of a method, found by `study`; cached for recently used files."""
    key = (document.text, function.start, setting.limits, setting.sandbox.name)
    try:
        return _STUDIES.find(key, lambda: study(document, function, setting, cancel=setting.cancel))
    except CompilerStoppedError as stopped:
        return Untestable(str(stopped))  # not cached: it may finish next time
