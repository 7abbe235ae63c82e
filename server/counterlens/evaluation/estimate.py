"""Estimates the prompts of a run: counted function by function, within a time limit.

Functions that were not counted are assumed to have as many prompts per line as the others.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from counterlens.errors import SourceError
from counterlens.evaluation.plan import Plan
from counterlens.evaluation.spending import amount, is_elsewhere, price_of
from counterlens.models.base import Api
from counterlens.models.entries import entry_named
from counterlens.models.usage import Usage
from counterlens.probes.execution.prompts import CHAT_TOKENS
from counterlens.probes.probe import Need, Target
from counterlens.probes.prompts.templates import usual_size
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import UNOPENED
from counterlens.syntax.functions import find_function

BYTES_PER_TOKEN = 3.5  # for code, with most vocabularies

_LONGEST = 1024
"""Token limit of an answer of a completion model, at most, where the question decides."""
LEAST = 12
"""Minimum number of functions counted per task, whatever the time."""
SECONDS = 10.0
"""Time limit for counting in seconds, over all tasks; the rest is estimated."""


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
        per_line = sum(self.counts.values()) / max(1, sum(self.lines[name] for name in self.counts))
        return {name: float(self.counts.get(name, per_line * self.lines[name])) for name in names}

    @property
    def total(self) -> float:
        """Estimated number of prompts of all functions."""
        return sum(self.of_each(self.lines).values())


def counted_prompts(
    plan: Plan, task: str, *, seconds: float | None = None, clock: Callable[[], float] = time.monotonic
) -> PromptCounts:
    """Count the prompts of a task, function by function, within a time limit.

    The model is assumed to have all capabilities, and nothing to be left out at run time.

    Args:
        plan: Plan of the run.
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


def cost_lines(plan: Plan, counted: Mapping[str, PromptCounts] | None = None) -> Iterator[str]:
    """For each remote model: the estimated number of tokens that it reads and writes, and the price.

    Args:
        plan: The run's plan.
        counted: The prompts of each task, if already counted.
    """
    for model in plan.settings.models:
        if not is_elsewhere(plan.settings, model):
            continue
        counted = counted or {task: counted_prompts(plan, task) for task in plan.targets}
        usage = _expected_usage(plan, counted, model)
        line = f"{model} reads about {usage.read:,} tokens and writes up to {usage.written:,}"
        price = price_of(plan.settings, model)
        if price is not None:
            line += f": up to about {amount(price.of(usage), price.currency)}"
            most = plan.settings.max_cost
            if most is not None:
                line += f", with at most {amount(most, price.currency)} for the run"
        yield line


def _expected_usage(plan: Plan, counted: Mapping[str, PromptCounts], model: str) -> Usage:
    """The usage of a model, if each prompt has its function whole and each answer reaches its limit."""
    read = written = 0.0
    chat = plan.settings.served(model)[0] == Api.CHAT
    for task, targets in plan.targets.items():
        prompts, probe = counted[task].of_each(targets), type(PROBES[task])
        beside = usual_size(probe.__module__.rpartition(".")[0], "chat" if chat else "completion")
        options = plan.settings.options[task]
        sizes = {name: beside + _size(target, options) for name, target in targets.items()}
        read += sum(prompts[name] * size for name, size in sizes.items()) / BYTES_PER_TOKEN
        if Need.COMPLETE in probe.needs:
            limit = options.get("max_tokens", 0)
            if limit is None:  # the question decides
                limit = CHAT_TOKENS if chat else _LONGEST
            written += sum(prompts.values()) * (limit + _thinking_tokens(plan, model))
    return Usage(0, round(read), 0, round(written))


def _thinking_tokens(plan: Plan, model: str) -> int:
    """The tokens of reasoning of a model, besides those of an answer."""
    if plan.settings.thinking_tokens is not None:
        return plan.settings.thinking_tokens
    entry = entry_named(model, plan.settings.entries)
    return (entry.thinking_tokens if entry else None) or 0


def _size(target: Target, options: Mapping[str, Any]) -> int:
    """Bytes of a function and of what its prompts show before it, about the length of a prompt."""
    try:
        function = find_function(target.document, target.qualname)
    except SourceError:  # it will be left out, with the reason
        return 0
    start = 0 if options.get("preceding") else function.start
    described = len(target.description.encode()) if options.get("description") else 0
    return described + function.end - start
