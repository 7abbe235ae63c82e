"""The processor time that the model may take for what nobody asked for.

What is visible, was edited or asked for is read at once. The rest of a document is read little by little, so
that opening a long file costs a laptop no minutes of both processors.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PER_MINUTE = 6.0
"""Processor seconds per minute by default: a tenth of a processor."""
_LONGEST = 10.0
"""Longest wait: the allowance may change meanwhile."""


class IdleBudget:
    """An allowance that grows with time, up to that of one minute. Thread-safe.

    Work may begin while there is some of it left, and is charged what it took, so the next work waits longer
    after one that took more.

    Args:
        clock: Returns seconds.
    """

    def __init__(self, per_minute: float = PER_MINUTE, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._clock = clock
        self._per_minute, self._left, self._at = per_minute, per_minute, clock()

    def allow(self, per_minute: float) -> None:
        """Set the processor seconds per minute; a change upwards counts at once."""
        with self._lock:
            self._grow()
            self._left = min(self._left + max(0.0, per_minute - self._per_minute), per_minute)
            self._per_minute = per_minute

    def charge(self, seconds: float) -> None:
        """Count processor seconds that were taken."""
        with self._lock:
            self._grow()
            self._left -= seconds

    @property
    def delay(self) -> float:
        """0 if work may begin now, else the seconds after which to ask again."""
        with self._lock:
            self._grow()
            if self._left > 0:
                return 0.0
            # A moment more, so that rounding cannot leave nothing at the end of the wait.
            return min(_LONGEST, 0.01 - self._left * 60 / self._per_minute) if self._per_minute else _LONGEST

    def _grow(self) -> None:
        now = self._clock()
        self._left = min(self._per_minute, self._left + (now - self._at) * self._per_minute / 60)
        self._at = now
