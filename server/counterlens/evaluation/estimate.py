"""Estimates the prompts of a run: counted function by function, within a time limit.

Functions differ widely in their number of prompts, and long ones have more. So that of functions which were
not counted is estimated from their lines, by least squares. An estimate is marked as such, with an interval.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from counterlens.errors import SourceError
from counterlens.evaluation.plan import Plan
from counterlens.evaluation.unopened import UNOPENED
from counterlens.metrics.bootstrap import Estimate, Floats, bootstrap_pairs
from counterlens.probes.probe import Target
from counterlens.probes.registry import PROBES
from counterlens.syntax.functions import find_function

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
        lines: Number of lines of each function, counted or not.
    """

    counts: Mapping[str, int]
    countable: int
    lines: Mapping[str, int]

    def of_each(self, names: Iterable[str]) -> dict[str, float]:
        """Estimated number of prompts of each function: for uncounted ones, by their lines."""
        if not self.counts:
            return dict.fromkeys(names, 0.0)
        counts, lines = np.array(self._pairs).T
        fixed, per_line = (float(part[0]) for part in _fitted(counts[None], lines[None]))
        usual = {name: max(0.0, fixed + per_line * self.lines[name]) for name in names}
        return {name: self.counts.get(name, count) for name, count in usual.items()}

    def total(self, *, seed: int = 0) -> Estimate:
        """Estimated number of prompts of all functions, with its 95 % interval."""
        known = sum(self.counts.values())
        uncounted = [lines for name, lines in self.lines.items() if name not in self.counts]

        def total(counts: Floats, lines: Floats) -> Floats:
            fixed, per_line = _fitted(counts, lines)
            return known + np.maximum(0.0, len(uncounted) * fixed + sum(uncounted) * per_line)

        return bootstrap_pairs(self._pairs, total, seed=seed)

    @property
    def _pairs(self) -> list[tuple[float, float]]:
        """Prompts and lines of each counted function."""
        return [(float(count), float(self.lines[name])) for name, count in self.counts.items()]


def _fitted(counts: Floats, lines: Floats) -> tuple[Floats, Floats]:
    """The prompts per function and per line (m,) of m samples (m, n), by least squares."""
    mean, mean_lines = counts.mean(axis=1), lines.mean(axis=1)
    away = lines - mean_lines[:, None]
    spread = (away**2).sum(axis=1)
    slope = np.maximum(0.0, (away * counts).sum(axis=1) / np.where(spread > 0, spread, 1.0))
    return mean - slope * mean_lines, slope


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
    return PromptCounts(counts, countable, {name: _lines(target) for name, target in targets})


def _lines(target: Target) -> int:
    function = find_function(target.document, target.qualname)
    return 1 + target.document.data.count(b"\n", function.start, function.end)


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
    found = counted.total(seed=plan.settings.seed)
    total = found.value or 0.0
    # If the bounds are unknown, the counted functions are all alike, or too few.
    low, high = (total if bound is None else bound for bound in (found.low, found.high))
    return PromptEstimate(total, low, high, len(counted.counts), len(counted.lines))
