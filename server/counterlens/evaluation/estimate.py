"""Estimate the prompts of a run: counted function by function, within a time limit.

Functions differ widely in how much is asked about them, so a small sample of them is often far off; what is
estimated from one says so, with an interval.
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
"""Number of functions per task that are counted, however long that takes."""
SECONDS = 10.0
"""Time limit for counting, over all tasks; the rest is estimated."""


@dataclass(frozen=True, slots=True)
class PromptEstimate:
    """About how many questions a task asks one model.

    Attributes:
        total: About all functions.
        low: Lower end of its 95 % interval; `total` where every function was counted.
        high: Its upper end.
        counted: How many functions were counted.
        functions: How many there are.
    """

    total: float
    low: float
    high: float
    counted: int
    functions: int


@dataclass(frozen=True, slots=True)
class PromptCounts:
    """How many questions a task asks about functions, counted one by one.

    Attributes:
        counts: By the name of the function, in the order in which they were drawn.
        told: The number of functions that could be counted; the others will be left out.
        left: How many functions there was no time for.
    """

    counts: Mapping[str, int]
    told: int
    left: int

    def of_each(self, names: Iterable[str]) -> dict[str, float]:
        """About how many questions each of some functions is asked: those that were not counted, the mean."""
        usual = sum(self.counts.values()) / len(self.counts) if self.counts else 0.0
        return {name: self.counts.get(name, usual) for name in names}


def counted_prompts(
    plan: Plan, task: str, *, seconds: float | None = None, clock: Callable[[], float] = time.monotonic
) -> PromptCounts:
    """Count what a task asks, function by function, as far as there is time.

    A model is taken to offer all there is, and nothing to be left out when it is run.

    Args:
        plan: Of the run.
        task: One of its tasks.
        seconds: When to stop counting; None for this task's part of `SECONDS`.
        clock: Tells the time, in seconds.
    """
    targets = list(plan.targets[task].items())
    random.Random(plan.settings.seed).shuffle(targets)  # noqa: S311 - no secret
    limit = SECONDS / len(plan.targets) if seconds is None else seconds
    options, started, counts, told = plan.settings.options_of(task), clock(), dict[str, int](), 0
    for name, target in targets:
        if len(counts) >= LEAST and clock() - started > limit:
            break
        try:
            counts[name] = PROBES[task].estimate(target, options, UNOPENED)
            told += 1
        except SourceError:  # it will be left out, with the reason
            counts[name] = 0
    return PromptCounts(counts, told, len(targets) - len(counts))


def estimated_prompts(
    plan: Plan,
    task: str,
    counted: PromptCounts | None = None,
    *,
    seconds: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> PromptEstimate | None:
    """About how many questions a task asks; None if it cannot be told of any function.

    Args:
        plan: Of the run.
        task: One of its tasks.
        counted: Its count; None to count now.
        seconds: See `counted_prompts`.
        clock: See `counted_prompts`.
    """
    counted = counted or counted_prompts(plan, task, seconds=seconds, clock=clock)
    if not counted.told:
        return None
    counts, left = list(counted.counts.values()), counted.left
    known = sum(counts)
    each = bootstrap(counts, mean, seed=plan.settings.seed)
    value = each.value or 0.0
    # Where the bounds are unknown, those that were counted are all alike, or too few.
    total, low, high = (
        known + left * (value if bound is None else bound) for bound in (value, each.low, each.high)
    )
    return PromptEstimate(total, low, high, len(counts), len(counts) + left)
