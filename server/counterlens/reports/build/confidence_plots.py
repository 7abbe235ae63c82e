"""Figures 3 and 6 of Palacio et al. 2023: confidence by node type, of the best, the worst and all models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from counterlens.evaluation.results import RunResults
from counterlens.metrics.asc_eval import THRESHOLD, TypeMedian
from counterlens.probes.confidence import ConfidenceRecord
from counterlens.probes.confidence.published import ASTXPLAINER, types_of
from counterlens.reports.build.plots import COLOURS, available, plot_of
from counterlens.reports.document import Figure, TableBlock
from counterlens.reports.still_plots import SharePoint, Spread, boxes, shares

_TASK = "confidence"
_WIDTH, _BAR, _BOX = 520, 22, 34
_ENDS = ("least", "lower quartile", "median", "upper quartile", "most")
_CONFIDENCE = "confidence"


def published(results: RunResults) -> list[Figure]:
    """The figures of a run with the protocol `astxplainer`, none for others; the curves need Altair."""
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
    return [_by_type(known), _spread(known), *([_density(known)] if available() else [])]


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
    described = "median confidence per node type, for the models with the highest and the lowest mean"
    if not available():
        points = [
            SharePoint(one.kind, model, one.value, one.value, one.value)
            for model in shown
            for one in types[model]
        ]
        return Figure(title, f"A point for the {described}.", table, svg=shares(points, COLOURS))
    order = list(dict.fromkeys(row["node type"] for row in rows))
    alt = _alt()
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            x=_share(),
            y=alt.Y("node type:N", sort=order, title=None),
            yOffset=alt.YOffset("model:N", sort=shown),
            color=_colour(shown),
            tooltip=["category:N", "node type:N", "model:N", _figure()],
        )
    )
    chart = (bars + _threshold()).properties(width=_WIDTH, height=_BAR * len(order))
    return plot_of(
        chart,
        title,
        f"Bar chart of the {described}, with a line at {THRESHOLD}, above which the paper calls it "
        "acceptable.",
        table,
    )


def _spread(types: Mapping[str, Sequence[TypeMedian]]) -> Figure:
    """Figure 6, left: for every model a box plot of the medians by node type."""
    rows = [
        {"model": model, "node types": len(found)} | dict(zip(_ENDS, _five(found), strict=True))
        for model, found in types.items()
    ]
    title = "AsC-Eval by model"
    table = _table(title, ("model", "node types", *_ENDS), rows)
    described = (
        "Box plot per model over its node types: a line from the lowest to the highest confidence, a bar "
        "between the quartiles, a tick at the median"
    )
    if not available():
        spreads = [Spread(model, "", _five(found)) for model, found in types.items()]
        return Figure(title, f"{described}.", table, svg=boxes(spreads, COLOURS, most=1.0))
    alt = _alt()
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("model:N", sort=list(types), title=None),
        color=_colour(list(types), legend=False),
        tooltip=["model:N", *(_figure(name) for name in _ENDS), "node types:Q"],
    )
    whiskers = base.mark_rule(strokeWidth=1.5).encode(x=_share("least"), x2="most:Q")
    middle = base.mark_bar(size=12, opacity=0.6).encode(x=_share("lower quartile"), x2="upper quartile:Q")
    median = base.mark_tick(thickness=3, size=18).encode(x=_share("median"))
    return plot_of(
        (whiskers + middle + median + _threshold()).properties(width=_WIDTH, height=_BOX * len(types)),
        title,
        f"{described}, and across all a line at {THRESHOLD}.",
        table,
    )


def _density(types: Mapping[str, Sequence[TypeMedian]]) -> Figure:
    """Figure 6, right: the distribution of the medians by node type."""
    rows = [{"model": model, _CONFIDENCE: one.value} for model, found in types.items() for one in found]
    alt = _alt()
    curves = (
        alt.Chart(alt.Data(values=rows))
        .transform_density(_CONFIDENCE, groupby=["model"], extent=[0, 1], as_=[_CONFIDENCE, "density"])
        .mark_line()
        .encode(
            x=_share(),
            y=alt.Y("density:Q", title="density"),
            color=_colour(list(types)),
            strokeDash=alt.StrokeDash("model:N", scale=alt.Scale(domain=list(types)), legend=None),
        )
    )
    title = "AsC-Eval, distribution over node types"
    return plot_of(
        (curves + _threshold()).properties(width=_WIDTH, height=200),
        title,
        "Density curve per model of the medians of its node types, along confidence from 0 to 1, with a "
        f"line at {THRESHOLD}.",
        _table(title, ("model", _CONFIDENCE), rows),
    )


def _five(types: Sequence[TypeMedian]) -> tuple[float, float, float, float, float]:
    least, lower, median, upper, most = np.quantile([one.value for one in types], [0, 0.25, 0.5, 0.75, 1])
    return float(least), float(lower), float(median), float(upper), float(most)


def _mean(types: Sequence[TypeMedian]) -> float:
    return sum(one.value for one in types) / len(types)


def _share(field: str = _CONFIDENCE) -> Any:
    alt = _alt()
    return alt.X(f"{field}:Q", title=_CONFIDENCE, scale=alt.Scale(domain=[0, 1]))


def _colour(models: Sequence[str], *, legend: bool = True) -> Any:
    alt = _alt()
    shown = alt.Legend(title=None) if legend and len(models) > 1 else None
    return alt.Color("model:N", scale=alt.Scale(domain=list(models), range=COLOURS), legend=shown)


def _threshold() -> Any:
    alt = _alt()
    line = alt.Chart(alt.Data(values=[{"threshold": THRESHOLD}])).mark_rule(
        strokeDash=[5, 4], color="#888888"
    )
    return line.encode(x=alt.X("threshold:Q"))


def _figure(field: str = _CONFIDENCE) -> Any:
    return _alt().Tooltip(f"{field}:Q", format=".2f")


def _table(title: str, columns: tuple[str, ...], rows: Sequence[Mapping[str, Any]]) -> TableBlock:
    return TableBlock(title, columns, tuple(tuple(row[name] for name in columns) for row in rows))


def _alt() -> Any:
    import altair

    return altair
