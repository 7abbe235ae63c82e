"""Describes the comparison of several models: those that hold more often, and those that are too weak."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from counterlens.counting import plural
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.model_comparison import DETECTABLE_DIFFERENCE, Adequacy, ModelComparison, adequacy
from counterlens.metrics.summary import EffectSummary


def answer_lines(
    comparisons: Sequence[ModelComparison], models: Mapping[str, EffectSummary]
) -> Iterator[str]:
    """The first sentences of a report.

    Args:
        comparisons: Each pair of models.
        models: The pooled pairs of each model.
    """
    yield from _comparison_lines(comparisons)
    yield from _weakness_lines(models)


def _comparison_lines(comparisons: Sequence[ModelComparison]) -> Iterator[str]:
    for one in comparisons:
        over = f"over {plural(one.difference.n, 'function')}"
        if one.significant:
            yield f"{one.first} holds more often than {one.second}: by {_points(one.difference)}, {over}."
            continue
        sentence = f"It is not clear whether {one.first} or {one.second} holds more often"
        if one.needed is None:
            yield f"{sentence} {over}."
            continue
        yield (
            f"{sentence}: the difference is {_points(one.difference)}, {over}; detecting one of "
            f"{100 * DETECTABLE_DIFFERENCE:.0f} points takes about {plural(one.needed, 'function')}."
        )


def _weakness_lines(models: Mapping[str, EffectSummary]) -> Iterator[str]:
    for model, summary in models.items():
        found, right = adequacy(summary), summary.original_accuracy
        if found is Adequacy.ADEQUATE or right.value is None or right.low is None or right.high is None:
            continue
        certain = found is Adequacy.WEAK
        yield (
            f"{model} {'is' if certain else 'may be'} too weak here: it completes {right.value:.0%} "
            f"({right.low:.0%} to {right.high:.0%}) of the originals correctly, so "
            f"{plural(summary.average.n, 'pair')} of {summary.pairs} can show an effect. "
            + (
                "A larger model would be more informative."
                if certain
                else "More functions would show whether."
            )
        )


def _points(difference: Estimate) -> str:
    value, low, high = (100 * (part or 0.0) for part in (difference.value, difference.low, difference.high))
    return f"{value:.0f} points ({low:.0f} to {high:.0f})"
