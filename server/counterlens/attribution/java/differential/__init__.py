"""Differential execution of Java: does a method do the same as the original on the same inputs?

from counterlens.attribution.java.differential import find, find_out
"""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.attribution.base import Setting
from counterlens.attribution.differential.comparing import Studies, Untestable
from counterlens.attribution.java.bench import CompilerStoppedError
from counterlens.attribution.java.differential.judge import JavaDifferentialJudge
from counterlens.attribution.java.differential.original import JavaOriginal, study
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

__all__ = [
    "JavaDifferentialJudge",
    "JavaOriginal",
    "Untestable",
    "find",
    "find_behaviour",
    "find_out",
    "study",
    "why_not",
]

_STUDIES: Studies[JavaOriginal] = Studies()


def find(document: Document, function: Function, setting: Setting) -> JavaDifferentialJudge | None:
    """The judge by differential execution; None if a method cannot be judged that way."""
    judge = find_behaviour(document, function, setting, ())
    return judge if isinstance(judge, JavaDifferentialJudge) else None


def find_behaviour(
    document: Document, function: Function, setting: Setting, texts: Sequence[str]
) -> JavaDifferentialJudge | str:
    """The judge by differential execution, or the reason why there is none.

    Args:
        document: The original file.
        function: The method.
        setting: Its sandbox and limits.
        texts: Texts of its tests, whose literals are tried as arguments.
    """
    found = find_out(document, function, setting, texts)
    return found.reason if isinstance(found, Untestable) else JavaDifferentialJudge(found)


def why_not(document: Document, function: Function, setting: Setting) -> str | None:
    """Why a method cannot be judged by its behaviour; None if it can."""
    found = find_out(document, function, setting)
    return found.reason if isinstance(found, Untestable) else None


def find_out(
    document: Document, function: Function, setting: Setting, texts: Sequence[str] = ()
) -> JavaOriginal | Untestable:
    """The behaviour of a method, found by `study`; cached for recently used files."""
    key = (document.text, function.start, setting.limits, setting.sandbox.name, tuple(texts))
    try:
        return _STUDIES.find(
            key, lambda: study(document, function, setting, more=texts, cancel=setting.cancel)
        )
    except CompilerStoppedError as stopped:
        return Untestable(str(stopped))  # not cached: it may finish next time
