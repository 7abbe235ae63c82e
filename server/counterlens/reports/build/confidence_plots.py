"""Figures 3 and 6 of Palacio et al. 2023: confidence by node type, of the best, the worst and all models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from counterlens.evaluation.results import RunResults
from counterlens.metrics.asc_eval import THRESHOLD, TypeMedian
from counterlens.probes.confidence import ConfidenceRecord
from counterlens.probes.confidence.published import ASTXPLAINER, types_of
from counterlens.reports.build.plots import COLOURS
from counterlens.reports.document import Figure, TableBlock
from counterlens.reports.still_plots import SharePoint, Spread, box_plots, densities, shares

_TASK = "confidence"
_ENDS = ("least", "lower quartile", "median", "upper quartile", "most")
_CONFIDENCE = "confidence"


def published(results: RunResults) -> list[Figure]:
    """The figures of a run with the protocol `astxplainer`, none for others."""
    if _TASK not in results.settings.tasks:
        return []
    part, types = results.only(_TASK), {}
    for model in part.models:
        records = [record for record in part.probed(model) if isinstance(record, ConfidenceRecord)]
        if records and records[0].protocol == ASTXPLAINER:
            types[model] = types_of(records, seed=results.settings.seed)
    known = {model: found for model, found in types.items() if found}
    if not known:
        return []
    return [_by_type(known), _spread(known), _density(known)]


def _by_type(types: Mapping[str, Sequence[TypeMedian]]) -> Figure:
    """Figure 3: every node type under its category, for the best and for the worst model."""
    ranked = sorted(types, key=lambda model: -_mean(types[model]))
    shown = list(dict.fromkeys((ranked[0], ranked[-1])))
    rows = [
        {"category": one.category, "node type": one.kind, "model": model, _CONFIDENCE: one.value}
        for model in shown
        for one in types[model]
    ]
    title = "AsC-Eval by node type" + (", best and worst model" if len(shown) > 1 else "")
    table = _table(title, ("category", "node type", "model", _CONFIDENCE), rows)
    points = [
        SharePoint(one.kind, model, one.value, one.value, one.value)
        for model in shown
        for one in types[model]
    ]
    description = (
        "A point for the median confidence per node type, for the models with the highest and the lowest "
        f"mean, with a line at {THRESHOLD}, above which the paper calls it acceptable."
    )
    return Figure(title, description, table, shares(points, COLOURS, threshold=THRESHOLD))


def _spread(types: Mapping[str, Sequence[TypeMedian]]) -> Figure:
    """Figure 6, left: for every model a box plot of the medians by node type."""
    rows = [
        {"model": model, "node types": len(found)} | dict(zip(_ENDS, _five(found), strict=True))
        for model, found in types.items()
    ]
    title = "AsC-Eval by model"
    table = _table(title, ("model", "node types", *_ENDS), rows)
    description = (
        "Box plot per model over its node types: a line from the lowest to the highest confidence, a bar "
        f"between the quartiles, a tick at the median, and across all a line at {THRESHOLD}."
    )
    spreads = [Spread(model, "", _five(found)) for model, found in types.items()]
    return Figure(title, description, table, box_plots(spreads, COLOURS, most=1.0, threshold=THRESHOLD))


def _density(types: Mapping[str, Sequence[TypeMedian]]) -> Figure:
    """Figure 6, right: the distribution of the medians by node type."""
    rows = [{"model": model, _CONFIDENCE: one.value} for model, found in types.items() for one in found]
    description = (
        "Density curve per model of the medians of its node types, along confidence from 0 to 1, with a "
        f"line at {THRESHOLD}."
    )
    values = {model: [one.value for one in found] for model, found in types.items()}
    return Figure(
        "AsC-Eval, distribution over node types",
        description,
        _table("AsC-Eval, distribution over node types", ("model", _CONFIDENCE), rows),
        densities(values, COLOURS, threshold=THRESHOLD),
    )


def _five(types: Sequence[TypeMedian]) -> tuple[float, float, float, float, float]:
    least, lower, median, upper, most = np.quantile([one.value for one in types], [0, 0.25, 0.5, 0.75, 1])
    return float(least), float(lower), float(median), float(upper), float(most)


def _mean(types: Sequence[TypeMedian]) -> float:
    return sum(one.value for one in types) / len(types)


def _table(title: str, columns: tuple[str, ...], rows: Sequence[Mapping[str, Any]]) -> TableBlock:
    return TableBlock(title, columns, tuple(tuple(row[name] for name in columns) for row in rows))
