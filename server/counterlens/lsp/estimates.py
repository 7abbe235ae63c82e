"""Estimates of duration: the rest of work in progress, and a probe at the pace of earlier ones."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from counterlens.lsp.language import t
from counterlens.models.files import known_number, note

_MEMORY = "editor-paces.json"
_FROM_SECONDS = 2.0  # no estimate before this time and this share of the work
_FROM_SHARE = 0.05
_CACHED = 0.5  # share of the known pace; faster work had cached responses, which do not show the pace


def about(seconds: float) -> str:
    """A duration in words, no more exact than an estimate."""
    if seconds < 90:
        return t("about {n} s", n=max(5, 5 * round(seconds / 5)))
    return t("about {n} min", n=math.ceil(seconds / 60))


class ProbeTimeLeft:
    """The remaining duration of work in progress at its pace so far.

    Args:
        clock: Returns the time, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = clock()

    def after(self, share: float) -> float | None:
        """Seconds left after a share of the work; None if it is too early to decide."""
        passed = self._clock() - self._begun
        if passed < _FROM_SECONDS or not _FROM_SHARE <= share < 1:
            return None
        return passed * (1 - share) / share


def expected_seconds(model: str, what: str, amount: int) -> float | None:
    """Estimate a duration from the pace of earlier work on this machine; None if there was none.

    Args:
        model: The model, as the settings name it.
        what: Kind of work, such as the id of a task.
        amount: Amount of work, in the unit passed to `note_pace`.
    """
    pace = known_number(_MEMORY, _key(model, what))
    return None if pace is None else pace * amount


def note_pace(model: str, what: str, amount: int, seconds: float) -> None:
    """Record a duration, unless most responses were cached: then it does not predict the next one."""
    if amount < 1:
        return
    pace, before = seconds / amount, known_number(_MEMORY, _key(model, what))
    if before is not None:
        if pace < before * _CACHED:
            return
        pace = (pace + before) / 2
    note(_MEMORY, _key(model, what), f"{pace:.4g}")


def _key(model: str, what: str) -> str:
    return f"{model} {what}"
