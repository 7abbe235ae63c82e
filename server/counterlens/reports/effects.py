"""Effects as plain data for `--json`. The keys are a contract: they are added to, never renamed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from counterlens.metrics.effects import Proportion
from counterlens.metrics.summary import EffectSummary, Observation, grouped, summarize
from counterlens.probes.likelihood import NOISE, LikelihoodEffect
from counterlens.probes.results import CompletionProbe

Json = dict[str, Any]


def summary(found: EffectSummary) -> Json:
    """What some pairs say together."""
    return {
        "pairs": found.pairs,
        "informative": found.average.n,
        "uninformative": found.uninformative,
        "unjudged": found.unjudged,
        "changed": found.average.count,
        "lost": found.lost,
        "gained": found.gained,
        "average_mutation_effect": found.average.value,
        "interval": _interval(found.average),
        "interval_method": found.method if found.average.n else None,
        "signed_effect": found.signed,
        "mcnemar_p": found.mcnemar,
        "original_accuracy": found.original_accuracy.value,
        "original_accuracy_interval": _interval(found.original_accuracy),
        "functions": found.functions,
    }


def summaries(probes: Sequence[CompletionProbe]) -> Json:
    """The summary of all pairs of some probes, and those by mutation, concept, function and file."""
    seen: list[Observation] = [one for probe in probes for one in probe.observations]
    return {
        **summary(summarize(seen)),
        "refused": sum(len(probe.refusals) for probe in probes),
        "dropped": sum(len(probe.dropped) for probe in probes),
        "by_mutation": _groups(grouped(seen, lambda one: one.mutation)),
        "by_concept": _groups(grouped(seen, lambda one: one.concept)),
        "by_function": _groups(grouped(seen, lambda one: one.function)),
        "by_file": _groups(grouped(seen, lambda one: one.file)),
    }


def likelihood(found: LikelihoodEffect | None) -> Json | None:
    """A likelihood effect in nats; what rounding could have done is null."""
    if found is None:
        return None
    return {
        "original": found.original,
        "counterfactual": found.mutated,
        "original_tokens": found.original_tokens,
        "counterfactual_tokens": found.mutated_tokens,
        "change_per_token": found.change if found.visible else None,
        "change_in_total": found.total_change if found.visible else None,
        "noise_per_token": NOISE,
        "matched_tokens": found.matched,
        "matched_change": (
            found.matched_change
            if found.matched_change is not None and abs(found.matched_change) >= NOISE
            else None
        ),
        "most_changed": [
            {
                "text": one.text,
                "line": one.line,
                "original": one.original,
                "counterfactual": one.mutated,
                "change": one.change,
            }
            for one in found.changes
        ],
    }


def _groups(found: dict[str, EffectSummary]) -> dict[str, Json]:
    return {name: summary(one) for name, one in found.items()}


def _interval(found: Proportion) -> list[float | None] | None:
    return [found.low, found.high] if found.n else None
