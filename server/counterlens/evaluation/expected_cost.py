"""Estimates the cost of a run before it starts: from its prompts, their length, and the token limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from counterlens.errors import SourceError
from counterlens.evaluation.estimate import PromptCounts, counted_prompts
from counterlens.evaluation.plan import Plan
from counterlens.evaluation.spending import amount, is_elsewhere, price_of
from counterlens.models.entries import entry_named
from counterlens.models.usage import Usage
from counterlens.probes.probe import Need, Target
from counterlens.probes.registry import PROBES
from counterlens.syntax.functions import find_function

BYTES_PER_TOKEN = 3.5  # for code, with most vocabularies


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
        usage = _expected(plan, counted, model)
        line = f"{model} reads about {usage.read:,} tokens and writes up to {usage.written:,}"
        price = price_of(plan.settings, model)
        if price is not None:
            line += f": up to about {amount(price.of(usage), price.currency)}"
            budget = plan.settings.budget
            if budget is not None:
                line += f", with a budget of {amount(budget, price.currency)} for the run"
        yield line


def _expected(plan: Plan, counted: Mapping[str, PromptCounts], model: str) -> Usage:
    """The maximum usage of a model, if each prompt has its function and each answer reaches its limit."""
    read = written = 0.0
    for task, targets in plan.targets.items():
        prompts = counted[task].of_each(targets)
        total = sum(prompts.values())
        read += sum(prompts[name] * _size(target) for name, target in targets.items()) / BYTES_PER_TOKEN
        if Need.COMPLETE in PROBES[task].needs:
            limit = int(plan.settings.options[task].get("max_tokens") or 0)
            written += total * (limit + _thinking(plan, model))
    return Usage(0, round(read), 0, round(written))


def _thinking(plan: Plan, model: str) -> int:
    """The tokens of reasoning of a model, besides those of an answer."""
    entry, said = entry_named(model, plan.settings.entries), plan.settings.thinking_tokens
    return ((entry.thinking_tokens if entry else None) or 0) if said is None else said


def _size(target: Target) -> int:
    """Bytes of a function, about the length of a prompt."""
    try:
        function = find_function(target.document, target.qualname)
    except SourceError:  # it will be left out, with the reason
        return 0
    return function.end - function.start
