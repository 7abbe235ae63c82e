"""Time limit of a counterfactual: a multiple of its original's run time, never the whole limit.

A mutation that breaks a loop often makes it endless, and each such program would use the whole limit. The
bound is on processor time, which other load does not use up, and is derived from the original's wall-clock
time, which other load only increases: so a verdict does not depend on other load. Programs that a model wrote
keep the whole limit, because right ones may be far slower than the original.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from counterlens.attribution.base import Verdict
from counterlens.sandbox.base import Limits

TIMES = 20
LEAST = 2
"""Minimum limit of processor time, in seconds."""

_MOST: ContextVar[int | None] = ContextVar("most", default=None)


@contextmanager
def paced(original: Verdict) -> Iterator[None]:
    """Within the context, programs that this thread judges get `TIMES` times the original's run time."""
    most = max(LEAST, math.ceil(TIMES * original.seconds))
    token = _MOST.set(most)
    try:
        yield
    finally:
        _MOST.reset(token)


def bounded(limits: Limits) -> Limits:
    """The limits, with the current bound on processor time."""
    most = _MOST.get()
    return limits if most is None or most >= limits.cpu_seconds else replace(limits, cpu_seconds=most)
