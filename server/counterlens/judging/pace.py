"""Time limits of judged programs: multiples of the original's time, never more than the whole limit.

A mutation that breaks a loop often makes it endless, and so do many completions; each such program would use
the whole limit. The bound is on the processor time of each process, and is derived from the original's, or
from its elapsed time if that is unknown: so a verdict does not depend on other load. An answer of a model may
be right and far slower than the original, so it gets more; HumanEval's own harness allows three seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from counterlens.judging.base import Verdict
from counterlens.sandbox.base import Limits

_MOST: ContextVar[float | None] = ContextVar("most", default=None)


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound on the processor time of a program.

    Attributes:
        times: The multiple of the original's time.
        least: Its minimum, in seconds.
    """

    times: int
    least: float

    def after(self, seconds: float) -> float:
        """The bound in half seconds, given the time of the original."""
        return max(self.least, math.ceil(2 * self.times * seconds) / 2)


COUNTERFACTUAL = Bound(10, 2)
"""The bound of programs that no model wrote."""
MUTANT = Bound(10, 0.5)
"""The bound of programs that should fail: many of them loop without end."""
ANSWER = Bound(20, 3)
"""The bound of programs with an answer of a model."""


@contextmanager
def at_most(seconds: float | None) -> Iterator[None]:
    """Within the context, bound the processor time of programs that this thread judges; None for no bound."""
    token = _MOST.set(seconds)
    try:
        yield
    finally:
        _MOST.reset(token)


def pace(original: Verdict, bound: Bound = COUNTERFACTUAL) -> AbstractContextManager[None]:
    """Within the context, programs that this thread judges have a bound that depends on the original.

    An original that does not pass has not run all of its tests, so it sets no bound.
    """
    spent = original.seconds if original.cpu_seconds is None else original.cpu_seconds
    return at_most(bound.after(spent) if original.passed else None)


def bound_limits(limits: Limits) -> Limits:
    """The limits, with the current bound on processor time."""
    most = _MOST.get()
    return limits if most is None or most >= limits.cpu_seconds else replace(limits, cpu_seconds=most)
