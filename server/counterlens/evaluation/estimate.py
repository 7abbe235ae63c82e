"""Estimates the prompts of a run: counted function by function, within a time limit.

Functions differ widely in their number of prompts, so a small sample of them is often far off; an estimate
from a sample is marked as such, with an interval.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from counterlens.errors import SourceError
from counterlens.evaluation.plan import Plan
from counterlens.evaluation.unopened import UNOPENED
from counterlens.metrics.bootstrap import bootstrap, mean
from counterlens.probes.registry import PROBES

LEAST = 12
"""Minimum number of functions counted per task, whatever the time."""
SECONDS = 10.0
"""Time limit for counting in seconds, over all tasks; the rest is estimated."""


@dataclass(frozen=True, slots=True)
class PromptEstimate:
    """Estimated number of prompts of one task for one model.

    Attributes:
        total: Estimate over all functions.
        low: Lower end of its 95 % interval; `total` if every function was counted.
        high: Its upper end.
        counted: Number of counted functions.
        functions: Number of all functions.
    """

    total: float
    low: float
    high: float
    counted: int
    functions: int


@dataclass(frozen=True, slots=True)
class PromptCounts:
    """Numbers of prompts of a task, counted per function.

    Attributes:
        counts: Number of prompts by function name, in the order of sampling.
        countable: Number of functions that could be counted; the others will be left out.
        left: Number of functions for which the time was too short.
    """

    counts: Mapping[str, int]
    countable: int
    left: int

    def of_each(self, names: Iterable[str]) -> dict[str, float]:
        """Estimated number of prompts of each function: for uncounted ones, the mean."""
        usual = sum(self.counts.values()) / len(self.counts) if self.counts else 0.0
        return {name: self.counts.get(name, usual) for name in names}


def counted_prompts(
    plan: Plan, task: str, *, seconds: float | None = None, clock: Callable[[], float] = time.monotonic
) -> PromptCounts:
    """Count the prompts of a task, function by function, within a time limit.

    The model is assumed to have all capabilities, and nothing to be left out at run time.

    Args:
        plan: Plan of the run.
        task: One of its tasks.
        seconds: Time limit; None for this task's share of `SECONDS`.
        clock: Returns the time, in seconds.
    """
    targets = list(plan.targets[task].items())
    random.Random(plan.settings.seed).shuffle(targets)  # noqa: S311 - no secret
    limit = SECONDS / len(plan.targets) if seconds is None else seconds
    options, started, counts, countable = plan.settings.options_of(task), clock(), dict[str, int](), 0
    for name, target in targets:
        if len(counts) >= LEAST and clock() - started > limit:
            break
        try:
            counts[name] = PROBES[task].estimate(target, options, UNOPENED)
            countable += 1
        except SourceError:  # it will be left out, with the reason
            counts[name] = 0
    return PromptCounts(counts, countable, len(targets) - len(counts))


def estimated_prompts(
    plan: Plan,
    task: str,
    counted: PromptCounts | None = None,
    *,
    seconds: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> PromptEstimate | None:
    """Estimated number of prompts of a task; None if it is unknown for every function.

    Args:
        plan: Plan of the run.
        task: One of its tasks.
        counted: Its counts; None to count now.
        seconds: See `counted_prompts`.
        clock: See `counted_prompts`.
    """
    counted = counted or counted_prompts(plan, task, seconds=seconds, clock=clock)
    if not counted.countable:
        return None
    counts, left = list(counted.counts.values()), counted.left
    known = sum(counts)
    each = bootstrap(counts, mean, seed=plan.settings.seed)
    value = each.value or 0.0
    # If the bounds are unknown, the counted functions are all alike, or too few.
    total, low, high = (
        known + left * (value if bound is None else bound) for bound in (value, each.low, each.high)
    )
    return PromptEstimate(total, low, high, len(counts), len(counts) + left)
