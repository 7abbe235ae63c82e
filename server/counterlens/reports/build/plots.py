"""The plots of a run.

The colours are those of Okabe and Ito, which colour-blind readers can distinguish; shape or text repeats the
information. Every plot has a table beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from counterlens.evaluation.effects import RunEffects
from counterlens.metrics.summary import EffectSummary
from counterlens.models.parameters import short_count
from counterlens.probes.pairs.wording import OUTCOMES
from counterlens.reports.document import Figure, TableBlock
from counterlens.reports.still_plots import SharePoint, matrix, shares, stacks

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
_OUTCOME_COLOURS = ["#0072B2", "#D55E00", "#56B4E9", "#999999", "#CCCCCC"]
_AVERAGES = (
    "Average mutation effect",
    "Share of informative pairs whose verdict changed, per mutation and model, as a point on a scale from 0 "
    "to 100 percent, with its 95 percent interval as a line.",
)
_OUTCOMES = (
    "Outcomes of the pairs",
    "Stacked bar per mutation: the pairs that kept a right verdict, lost it, gained it, failed on both "
    "sides, or could not be judged.",
)
_CORRELATIONS = (
    "Matrix of mutations: each cell shows the correlation of two mutations' effects over the functions that "
    "have both."
)
_SIZES = "Effect by model size"


def plots(effects: RunEffects, prefix: str = "") -> list[Figure]:
    """The plots of a run; empty if there is nothing to plot.

    Args:
        effects: Effects of one task.
        prefix: Prefix of their titles.
    """
    if not effects.names:
        return []
    made = [_averages(effects), _outcomes(effects), *_correlations(effects)]
    if len(effects.sizes) > 1:
        made.append(_sizes(effects))
    return [replace(figure, title=prefix + figure.title) for figure in made]


def _averages(effects: RunEffects) -> Figure:
    rows = _average_rows(effects)
    points = [
        SharePoint(row["mutation"], row["model"], row["effect"], row["low"], row["high"])
        for row in rows
        if row["low"] is not None and row["high"] is not None
    ]
    return Figure(*_AVERAGES, _average_table(rows), svg=shares(points, COLOURS))


def _outcomes(effects: RunEffects) -> Figure:
    several = len(effects.models) > 1
    counts = [
        (f"{name}, {model}" if several else name, _counted(found)) for model, name, found in _groups(effects)
    ]
    svg = stacks(counts, list(OUTCOMES.values()), _OUTCOME_COLOURS)
    return Figure(*_OUTCOMES, _outcome_table(_outcome_rows(effects)), svg=svg)


def _correlations(effects: RunEffects) -> Iterator[Figure]:
    for model, names, rows in _correlated(effects):
        svg = matrix(names, {(row["first"], row["second"]): row["r"] for row in rows})
        yield Figure(_of_correlations(model), _CORRELATIONS, _correlation_table(model, rows), svg=svg)


def _sizes(effects: RunEffects) -> Figure:
    rows = sorted(_size_rows(effects), key=lambda row: row["parameters"])
    points = [
        SharePoint(f"{row['size']}, {row['model']}", row["mutation"], row["effect"], row["low"], row["high"])
        for row in rows
        if row["low"] is not None and row["high"] is not None
    ]
    description = (
        "A row per model, from the smallest to the largest, with a point and its 95 percent interval for the "
        "average mutation effect of each mutation."
    )
    return Figure(_SIZES, description, _size_table(rows), svg=shares(points, COLOURS))


def _average_rows(effects: RunEffects) -> list[dict[str, Any]]:
    return [
        {
            "mutation": name,
            "model": model,
            "effect": found.average.value,
            "low": found.average.low,
            "high": found.average.high,
            "pairs": found.average.n,
        }
        for model, name, found in _groups(effects)
        if found.average.value is not None
    ]


def _average_table(rows: list[dict[str, Any]]) -> TableBlock:
    columns = ("mutation", "model", "effect", "low", "high", "pairs")
    return _table("average mutation effect by mutation", columns, rows)


def _outcome_rows(effects: RunEffects) -> list[dict[str, Any]]:
    return [
        {"mutation": name, "model": model, "outcome": outcome, "pairs": count}
        for model, name, found in _groups(effects)
        for outcome, count in zip(OUTCOMES.values(), _counted(found), strict=True)
    ]


def _outcome_table(rows: list[dict[str, Any]]) -> TableBlock:
    return _table("outcomes of the pairs", ("mutation", "model", "outcome", "pairs"), rows)


def _correlated(effects: RunEffects) -> Iterator[tuple[str, list[str], list[dict[str, Any]]]]:
    """Each model with its mutations that have a known correlation, and the correlations."""
    for model, found in effects.correlations.items():
        known = {both: one for both, one in found.items() if one.value is not None}
        if known:
            yield (
                model,
                [name for name in effects.names if any(name in both for both in known)],
                [
                    {"first": a, "second": b, "r": r.value, "low": r.low, "high": r.high, "functions": r.n}
                    for (a, b), r in known.items()
                ],
            )


def _of_correlations(model: str) -> str:
    return f"Correlation of effects, {model}"


def _correlation_table(model: str, rows: list[dict[str, Any]]) -> TableBlock:
    columns = ("first", "second", "r", "low", "high", "functions")
    return _table(f"correlation of effects, {model}", columns, rows)


def _size_table(rows: list[dict[str, Any]]) -> TableBlock:
    return _table("effect by model size", ("mutation", "model", "size", "effect", "low", "high"), rows)


def _size_rows(effects: RunEffects) -> list[dict[str, Any]]:
    return [
        {
            "mutation": name,
            "model": model,
            "parameters": effects.sizes[model],
            "size": short_count(effects.sizes[model]),
            "effect": found.average.value,
            "low": found.average.low,
            "high": found.average.high,
        }
        for model, name, found in _groups(effects)
        if model in effects.sizes and found.average.value is not None
    ]


def _groups(effects: RunEffects) -> Iterator[tuple[str, str, EffectSummary]]:
    for model, by_mutation in effects.mutations.items():
        for name in effects.names:
            if name in by_mutation:
                yield model, name, by_mutation[name]


def _counted(found: EffectSummary) -> tuple[int, ...]:
    """The number of pairs with each of `OUTCOMES`, in that order."""
    held = found.average.n - found.lost - found.gained
    return held, found.lost, found.gained, found.uninformative, found.unjudged


def _table(title: str, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> TableBlock:
    return TableBlock(title, columns, tuple(tuple(row[name] for name in columns) for row in rows))
