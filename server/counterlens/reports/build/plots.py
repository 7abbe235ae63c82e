"""The plots of a run.

The colours are those of Okabe and Ito, which colour-blind readers can distinguish; shape or text repeats the
information. Every plot has a table beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from counterlens.evaluation.effects import RunEffects
from counterlens.evaluation.results import RunResults
from counterlens.metrics.asc_eval import THRESHOLD, TypeMedian
from counterlens.metrics.summary import EffectSummary
from counterlens.models.parameters import short_count
from counterlens.probes.confidence import ConfidenceRecord
from counterlens.probes.confidence.methods import METHODS
from counterlens.probes.operator.probe import METHODS as OPERATORS
from counterlens.probes.operator.published import MEASURES_OF, five, spreads
from counterlens.probes.operator.record import OperatorRecord
from counterlens.probes.pairs.wording import OUTCOMES
from counterlens.reports.document import Figure, TableBlock
from counterlens.reports.still_plots import SharePoint, Spread, box_plots, densities, matrix, shares, stacks

_CONFIDENCE_TASK = "confidence"
_CONFIDENCE = "confidence"

_TASK = "operator"
_SIDES = {"no": "original", "yes": "transformed"}
_DESCRIPTION = (
    "Two box plots per transformation, of the originals and of the transformed: a line from the minimum to "
    "the maximum, a bar between the quartiles, and a tick at the median."
)
_ENDS = ("least", "lower quartile", "median", "upper quartile", "most")

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
    rows = _average_rows(effects)
    points = [
        SharePoint(row["mutation"], row["model"], row["effect"], row["low"], row["high"])
        for row in rows
        if row["low"] is not None and row["high"] is not None
    ]
    columns, svg = ("mutation", "model", "effect", "low", "high", "pairs"), shares(points, COLOURS)
    made = [
        Figure(*_AVERAGES, _table("average mutation effect by mutation", columns, rows), svg=svg),
        _outcomes(effects),
        *_correlations(effects),
    ]
    if len(effects.sizes) > 1:
        made.append(_sizes(effects))
    return [replace(figure, title=prefix + figure.title) for figure in made]


def _outcomes(effects: RunEffects) -> Figure:
    several = len(effects.models) > 1
    counts = [
        (f"{name}, {model}" if several else name, _outcome_counts(summary))
        for model, name, summary in _groups(effects)
    ]
    svg = stacks(counts, list(OUTCOMES.values()), _OUTCOME_COLOURS)
    return Figure(
        *_OUTCOMES,
        _table("outcomes of the pairs", ("mutation", "model", "outcome", "pairs"), _outcome_rows(effects)),
        svg=svg,
    )


def _correlations(effects: RunEffects) -> Iterator[Figure]:
    for model, names, rows in _correlation_tables(effects):
        svg = matrix(names, {(row["first"], row["second"]): row["r"] for row in rows})
        columns = ("first", "second", "r", "low", "high", "functions")
        table = _table(f"correlation of effects, {model}", columns, rows)
        yield Figure(f"Correlation of effects, {model}", _CORRELATIONS, table, svg=svg)


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
    table = _table("effect by model size", ("mutation", "model", "size", "effect", "low", "high"), rows)
    return Figure(_SIZES, description, table, svg=shares(points, COLOURS))


def _average_rows(effects: RunEffects) -> list[dict[str, Any]]:
    return [
        {
            "mutation": name,
            "model": model,
            "effect": summary.average.value,
            "low": summary.average.low,
            "high": summary.average.high,
            "pairs": summary.average.n,
        }
        for model, name, summary in _groups(effects)
        if summary.average.value is not None
    ]


def _outcome_rows(effects: RunEffects) -> list[dict[str, Any]]:
    return [
        {"mutation": name, "model": model, "outcome": outcome, "pairs": count}
        for model, name, summary in _groups(effects)
        for outcome, count in zip(OUTCOMES.values(), _outcome_counts(summary), strict=True)
    ]


def _correlation_tables(effects: RunEffects) -> Iterator[tuple[str, list[str], list[dict[str, Any]]]]:
    """Each model with its mutations that have a known correlation, and the correlations."""
    for model, correlations in effects.correlations.items():
        defined = {
            both: correlation for both, correlation in correlations.items() if correlation.value is not None
        }
        if defined:
            yield (
                model,
                [name for name in effects.names if any(name in both for both in defined)],
                [
                    {"first": a, "second": b, "r": r.value, "low": r.low, "high": r.high, "functions": r.n}
                    for (a, b), r in defined.items()
                ],
            )


def _size_rows(effects: RunEffects) -> list[dict[str, Any]]:
    return [
        {
            "mutation": name,
            "model": model,
            "parameters": effects.sizes[model],
            "size": short_count(effects.sizes[model]),
            "effect": summary.average.value,
            "low": summary.average.low,
            "high": summary.average.high,
        }
        for model, name, summary in _groups(effects)
        if model in effects.sizes and summary.average.value is not None
    ]


def _groups(effects: RunEffects) -> Iterator[tuple[str, str, EffectSummary]]:
    for model, by_mutation in effects.mutations.items():
        for name in effects.names:
            if name in by_mutation:
                yield model, name, by_mutation[name]


def _outcome_counts(summary: EffectSummary) -> tuple[int, ...]:
    """The number of pairs with each of `OUTCOMES`, in that order."""
    held = summary.average.n - summary.lost - summary.gained
    return held, summary.lost, summary.gained, summary.uninformative, summary.unjudged


def _table(title: str, columns: tuple[str, ...], rows: Sequence[Mapping[str, Any]]) -> TableBlock:
    return TableBlock(title, columns, tuple(tuple(row[name] for name in columns) for row in rows))


def boxes(results: RunResults) -> list[Figure]:
    """The figures of each model of a run with the protocol; none for others."""
    if _TASK not in results.settings.tasks:
        return []
    part = results.only(_TASK)
    drawn = []
    for model in part.models:
        records = [record for record in part.probed(model) if isinstance(record, OperatorRecord)]
        figures = OPERATORS[records[0].protocol].figures if records else {}
        for number, title in figures.items():
            rows = [
                {"transformation": change, "side": _SIDES[side], "n": len(values)}
                | dict(zip(_ENDS, five(values), strict=True))
                for change, side, values in spreads(records, MEASURES_OF[number])
            ]
            if rows:
                drawn.append(_boxes(f"{title}, {model}" if len(part.models) > 1 else title, rows))
    return drawn


def _boxes(title: str, rows: list[dict[str, Any]]) -> Figure:
    columns = ("transformation", "side", "n", *_ENDS)
    table = TableBlock(title, columns, tuple(tuple(row[name] for name in columns) for row in rows))
    spreads = [Spread(row["transformation"], row["side"], tuple(row[name] for name in _ENDS)) for row in rows]
    return Figure(f"{title}, in nats", _DESCRIPTION, table, svg=box_plots(spreads, COLOURS))


def published_figures(results: RunResults) -> list[Figure]:
    """The figures of a run with the protocol `astxplainer`, none for others."""
    if _CONFIDENCE_TASK not in results.settings.tasks:
        return []
    part, types = results.only(_CONFIDENCE_TASK), {}
    for model in part.models:
        records = [record for record in part.probed(model) if isinstance(record, ConfidenceRecord)]
        if records:
            types[model] = METHODS[records[0].protocol].types(records, seed=results.settings.seed)
    by_model = {model: medians for model, medians in types.items() if medians}
    if not by_model:
        return []
    return [_by_type(by_model), _spread(by_model), _density(by_model)]


def _by_type(types: Mapping[str, Sequence[TypeMedian]]) -> Figure:
    """Figure 3: every node type under its category, for the best and for the worst model."""
    ranked = sorted(types, key=lambda model: -_mean(types[model]))
    shown = list(dict.fromkeys((ranked[0], ranked[-1])))
    rows = [
        {"category": median.category, "node type": median.kind, "model": model, _CONFIDENCE: median.value}
        for model in shown
        for median in types[model]
    ]
    title = "AsC-Eval by node type" + (", best and worst model" if len(shown) > 1 else "")
    table = _table(title, ("category", "node type", "model", _CONFIDENCE), rows)
    points = [
        SharePoint(median.kind, model, median.value, median.value, median.value)
        for model in shown
        for median in types[model]
    ]
    description = (
        "A point for the median confidence per node type, for the models with the highest and the lowest "
        f"mean, with a line at {THRESHOLD}, above which the paper calls it acceptable."
    )
    return Figure(title, description, table, shares(points, COLOURS, threshold=THRESHOLD))


def _spread(types: Mapping[str, Sequence[TypeMedian]]) -> Figure:
    """Figure 6, left: for every model a box plot of the medians by node type."""
    rows = [
        {"model": model, "node types": len(medians)} | dict(zip(_ENDS, _five(medians), strict=True))
        for model, medians in types.items()
    ]
    title = "AsC-Eval by model"
    table = _table(title, ("model", "node types", *_ENDS), rows)
    description = (
        "Box plot per model over its node types: a line from the lowest to the highest confidence, a bar "
        f"between the quartiles, a tick at the median, and across all a line at {THRESHOLD}."
    )
    spreads = [Spread(model, "", _five(medians)) for model, medians in types.items()]
    return Figure(title, description, table, box_plots(spreads, COLOURS, most=1.0, threshold=THRESHOLD))


def _density(types: Mapping[str, Sequence[TypeMedian]]) -> Figure:
    """Figure 6, right: the distribution of the medians by node type."""
    rows = [
        {"model": model, _CONFIDENCE: median.value} for model, medians in types.items() for median in medians
    ]
    description = (
        "Density curve per model of the medians of its node types, along confidence from 0 to 1, with a "
        f"line at {THRESHOLD}."
    )
    values = {model: [median.value for median in medians] for model, medians in types.items()}
    return Figure(
        "AsC-Eval, distribution over node types",
        description,
        _table("AsC-Eval, distribution over node types", ("model", _CONFIDENCE), rows),
        densities(values, COLOURS, threshold=THRESHOLD),
    )


def _five(types: Sequence[TypeMedian]) -> tuple[float, float, float, float, float]:
    least, lower, median, upper, most = np.quantile(
        [node_type.value for node_type in types], [0, 0.25, 0.5, 0.75, 1]
    )
    return float(least), float(lower), float(median), float(upper), float(most)


def _mean(types: Sequence[TypeMedian]) -> float:
    return sum(median.value for median in types) / len(types)
