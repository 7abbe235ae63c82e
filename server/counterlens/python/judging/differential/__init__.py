"""Differential execution: does a program do the same as the original on the same inputs?

from counterlens.python.judging.differential import find_behaviour, study
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from threading import Lock
from typing import Any

from counterlens.judging.base import Setting
from counterlens.judging.comparing import ID, Distinction, Untestable
from counterlens.python.judging.differential.judge import DifferentialJudge
from counterlens.python.judging.differential.observed import texts_about
from counterlens.python.judging.differential.original import Original
from counterlens.python.judging.differential.planning import never_compared, study
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

__all__ = [
    "ID",
    "DifferentialJudge",
    "Distinction",
    "Original",
    "Untestable",
    "find_behaviour",
    "find_out",
    "never_compared",
    "study",
    "texts_about",
]

_MOST = 128
_studies: dict[Hashable, Original | Untestable] = {}
"""The studied behaviour of functions, the most recently used last."""
_lock = Lock()


def find_behaviour(
    document: Document, function: Function, setting: Setting, recorded: Sequence[Any]
) -> DifferentialJudge | str:
    """The judge by differential execution, or the reason why there is none; see `Behaviour`."""
    studied = find_out(document, function, setting, recorded)
    return studied.reason if isinstance(studied, Untestable) else DifferentialJudge(studied)


def find_out(
    document: Document, function: Function, setting: Setting, recorded: Sequence[Any] = ()
) -> Original | Untestable:
    """The behaviour of a function, found by `study`; cached for recently used files."""
    more = texts_about(document, function.qualname)
    calls = json.dumps(recorded)
    key = (document.text, function.qualname, document.path, setting.python, setting.limits, more, calls)
    with _lock:
        studied = _studies.get(key)
    if studied is None:
        studied = study(document, function.qualname, setting, more=more, recorded=recorded)
    with _lock:
        _studies.pop(key, None)
        _studies[key] = studied
        if len(_studies) > _MOST:
            del _studies[next(iter(_studies))]
    return studied
