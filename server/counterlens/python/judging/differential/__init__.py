"""Differential execution: does a program do the same as the original on the same inputs?

from counterlens.python.judging.differential import find_behaviour, study
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from threading import Event, Lock
from typing import Any

from counterlens.errors import Cancelled
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
_under_way: dict[Hashable, Event] = {}
"""The studies that run in some thread, with what is set at their end."""
_lock = Lock()
_TICK = 0.1  # seconds between looks at what cancels a thread that waits for another's study


def find_behaviour(
    document: Document, function: Function, setting: Setting, recorded: Sequence[Any]
) -> DifferentialJudge | str:
    """The judge by differential execution, or the reason why there is none; see `Behaviour`."""
    studied = find_out(document, function, setting, recorded)
    return studied.reason if isinstance(studied, Untestable) else DifferentialJudge(studied)


def find_out(
    document: Document, function: Function, setting: Setting, recorded: Sequence[Any] = ()
) -> Original | Untestable:
    """The behaviour of a function, found by `study`; cached for recently used files.

    Threads that ask about one function at a time, as those of several models do, share one study.

    Raises:
        Cancelled, SandboxError: as `study`.
    """
    more = texts_about(document, function.qualname)
    calls = json.dumps(recorded)
    key = (document.text, function.qualname, document.path, setting.python, setting.limits, more, calls)
    ended = Event()
    while True:
        with _lock:
            studied = _studies.pop(key, None)
            if studied is not None:
                _studies[key] = studied
                return studied
            other = _under_way.setdefault(key, ended)
        if other is ended:
            break
        while not other.wait(_TICK):
            if setting.cancel is not None and setting.cancel.is_set():
                raise Cancelled
    try:
        studied = study(document, function.qualname, setting, more=more, recorded=recorded)
        with _lock:
            _studies[key] = studied
            if len(_studies) > _MOST:
                del _studies[next(iter(_studies))]
        return studied
    finally:
        with _lock:
            del _under_way[key]
        ended.set()
