"""Differential execution of Java: does a method do the same as the original on the same inputs?

from counterlens.java.judging.differential import find_behaviour, find_out
"""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.java.judging.bench import CompilerStoppedError
from counterlens.java.judging.differential.judge import JavaDifferentialJudge
from counterlens.java.judging.differential.original import JavaOriginal, study
from counterlens.judging.base import Setting
from counterlens.judging.comparing import Studies, Untestable
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

__all__ = [
    "JavaDifferentialJudge",
    "JavaOriginal",
    "Untestable",
    "find_behaviour",
    "find_out",
    "study",
]

_STUDIES: Studies[JavaOriginal] = Studies()


def find_behaviour(
    document: Document, function: Function, setting: Setting, texts: Sequence[str]
) -> JavaDifferentialJudge | str:
    """The judge by differential execution, or the reason why there is none.

    Args:
        document: The original file.
        setting: Its sandbox and limits.
        texts: Texts of its tests, whose literals are tried as arguments.
    """
    studied = find_out(document, function, setting, texts)
    return studied.reason if isinstance(studied, Untestable) else JavaDifferentialJudge(studied)


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
