"""About how long something takes: the rest of work in progress, and a probe by the pace of earlier ones."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable

from counterlens.lsp.language import t
from counterlens.models.files import known, note

_MEMORY = "editor-paces.json"
_FROM_SECONDS = 2.0  # before, and before so much is done, the rest cannot be told
_FROM_SHARE = 0.05
_CACHED = 0.5  # of the known pace: answers that were kept are no pace of the model


def about(seconds: float) -> str:
    """Some time in words, no more exact than an estimate is."""
    if seconds < 90:
        return t("about {n} s", n=max(5, 5 * round(seconds / 5)))
    return t("about {n} min", n=math.ceil(seconds / 60))


class TimeLeft:
    """How long work in progress will still take, if it goes on as it did.

    Args:
        clock: Tells the time, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = clock()

    def after(self, share: float) -> float | None:
        """The seconds that are left after a share of the work; None where that cannot be told yet."""
        passed = self._clock() - self._begun
        if passed < _FROM_SECONDS or not _FROM_SHARE <= share < 1:
            return None
        return passed * (1 - share) / share


def expected_seconds(model: str, what: str, amount: int) -> float | None:
    """How long something takes at the pace of earlier times on this machine; None where there were none.

    Args:
        model: The model, as the settings name it.
        what: Kind of work, such as the id of a task.
        amount: How much of it, in what `note_pace` was given.
    """
    pace = _pace(model, what)
    return None if pace is None else pace * amount


def note_pace(model: str, what: str, amount: int, seconds: float) -> None:
    """Keep how long something took; if answers were kept from before, that says nothing of the next time."""
    if amount < 1:
        return
    pace, before = seconds / amount, _pace(model, what)
    if before is not None:
        if pace < before * _CACHED:
            return
        pace = (pace + before) / 2
    note(_MEMORY, _key(model, what), f"{pace:.4g}")


def _pace(model: str, what: str) -> float | None:
    found = known(_MEMORY, _key(model, what))
    with contextlib.suppress(TypeError, ValueError):
        pace = float(found)  # type: ignore[arg-type]  # whatever stands in the user's file
        return pace if 0 < pace < math.inf else None
    return None


def _key(model: str, what: str) -> str:
    return f"{model} {what}"
