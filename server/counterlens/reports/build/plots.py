"""The plots of a run: as Vega-Lite if Altair is available, else as static pictures.

The colours are those of Okabe and Ito, which colour-blind readers can distinguish; shape or text repeats the
information. Every plot has a table beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
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
_WIDTH, _ROW = 520, 26
# Elements without a colour take that of the page, which may be light or dark.
_INK = "currentColor"
_GREY = "#80808055"


def available() -> bool:
    """Whether plots can be created as Vega-Lite here."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def plots(effects: RunEffects, prefix: str = "") -> list[Figure]:
    """The plots of a run; empty if there is nothing to plot.

    Args:
        effects: Effects of one task.
        prefix: Prefix of their titles.
    """
    if not effects.names:
        return []
    if available():
        made = [_averages(effects), _outcomes(effects), *_correlations(effects)]
        if len(effects.sizes) > 1:
            made.append(_sizes(effects))
    else:
        made = [_still_averages(effects), _still_outcomes(effects), *_still_correlations(effects)]
        if len(effects.sizes) > 1:
            made.append(_still_sizes(effects))
    return [replace(figure, title=prefix + figure.title) for figure in made]


def _still_averages(effects: RunEffects) -> Figure:
    rows = _average_rows(effects)
    points = [
        SharePoint(row["mutation"], row["model"], row["effect"], row["low"], row["high"])
        for row in rows
        if row["low"] is not None and row["high"] is not None
    ]
    return Figure(*_AVERAGES, _average_table(rows), svg=shares(points, COLOURS))


def _still_outcomes(effects: RunEffects) -> Figure:
    several = len(effects.models) > 1
    counts = [
        (f"{name}, {model}" if several else name, _counted(found)) for model, name, found in _groups(effects)
    ]
    svg = stacks(counts, list(OUTCOMES.values()), _OUTCOME_COLOURS)
    return Figure(*_OUTCOMES, _outcome_table(_outcome_rows(effects)), svg=svg)


def _still_correlations(effects: RunEffects) -> Iterator[Figure]:
    for model, names, rows in _correlated(effects):
        svg = matrix(names, {(row["first"], row["second"]): row["r"] for row in rows})
        yield Figure(_of_correlations(model), _CORRELATIONS, _correlation_table(model, rows), svg=svg)


def _still_sizes(effects: RunEffects) -> Figure:
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


def _averages(effects: RunEffects) -> Figure:
    rows = _average_rows(effects)
    base = _alt().Chart(_alt().Data(values=rows))
    y = _alt().Y("mutation:N", sort=list(effects.names), title=None)
    offset = _alt().YOffset("model:N")
    colour, shape = _by_model(effects)
    tooltip = ["model:N", "mutation:N", *(_percent(one) for one in ("effect", "low", "high")), "pairs:Q"]
    rules = base.mark_rule(strokeWidth=2).encode(
        x=_share("low", "average mutation effect"), x2="high:Q", y=y, yOffset=offset, color=colour
    )
    marks = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=_share("effect", "average mutation effect"),
        y=y,
        yOffset=offset,
        color=colour,
        shape=shape,
        tooltip=tooltip,
    )
    height = _ROW * len(effects.names) * max(1, len(effects.models) * 0.6)
    chart = (rules + marks).properties(width=_WIDTH, height=height)
    return plot_of(chart, *_AVERAGES, _average_table(rows))


def _outcomes(effects: RunEffects) -> Figure:
    rows = _outcome_rows(effects)
    alt, words = _alt(), list(OUTCOMES.values())
    scale = alt.Scale(domain=words, range=_OUTCOME_COLOURS)
    bars = (
        alt.Chart(alt.Data(values=[row | {"order": words.index(str(row["outcome"]))} for row in rows]))
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("pairs:Q", title="pairs", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("mutation:N", sort=list(effects.names), title=None),
            color=alt.Color("outcome:N", scale=scale, sort=words, title="verdict after the change"),
            order=alt.Order("order:Q"),
            tooltip=["model:N", "mutation:N", "outcome:N", "pairs:Q"],
        )
        .properties(width=_WIDTH, height=_ROW * len(effects.names))
    )
    if len(effects.models) > 1:
        bars = bars.facet(row=alt.Row("model:N", title=None, sort=list(effects.models)))
    return plot_of(bars, *_OUTCOMES, _outcome_table(rows))


def _correlations(effects: RunEffects) -> Iterator[Figure]:
    alt = _alt()
    for model, names, rows in _correlated(effects):
        # Both halves, because a matrix is read by row and by column.
        values = [*rows, *(row | {"first": row["second"], "second": row["first"]} for row in rows)]
        axes = {
            "x": alt.X("first:N", sort=names, title=None, axis=alt.Axis(labelAngle=-35)),
            "y": alt.Y("second:N", sort=names, title=None),
        }
        base = alt.Chart(alt.Data(values=values)).encode(**axes)
        cells = base.mark_rect().encode(
            color=alt.Color("r:Q", scale=alt.Scale(scheme="blueorange", domain=[-1, 1]), title="Pearson's r"),
            tooltip=["first:N", "second:N", *(_figure(one) for one in ("r", "low", "high")), "functions:Q"],
        )
        dark = alt.condition("abs(datum.r) > 0.6", alt.value("white"), alt.value("black"))
        text = base.mark_text().encode(text=_figure("r", alt.Text), color=dark)
        size = 46 * len(names)
        chart = (cells + text).properties(width=size, height=size)
        yield plot_of(chart, _of_correlations(model), _CORRELATIONS, _correlation_table(model, rows))


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


def _sizes(effects: RunEffects) -> Figure:
    alt, rows = _alt(), _size_rows(effects)
    names = list(effects.names)
    count = alt.Axis(format="~s", labelExpr="replace(datum.label, 'G', 'B')")
    height = alt.Y("mean(effect):Q", title="average mutation effect", axis=alt.Axis(format="%"))
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("parameters:Q", scale=alt.Scale(type="log"), title="parameters", axis=count),
        color=alt.Color("mutation:N", scale=alt.Scale(domain=names, range=COLOURS)),
    )
    marks = base.mark_point(size=60, filled=True, opacity=1).encode(
        y=alt.Y("effect:Q"),
        shape=alt.Shape("mutation:N", scale=alt.Scale(domain=names)),
        tooltip=["model:N", "size:N", "mutation:N", *(_percent(one) for one in ("effect", "low", "high"))],
    )
    dash = alt.StrokeDash("mutation:N", scale=alt.Scale(domain=names))  # more mutations than colours
    lines = (base.mark_line().encode(y=height, strokeDash=dash) + marks).properties(width=_WIDTH, height=280)
    return plot_of(
        lines,
        _SIZES,
        "Scatter plot per mutation: a point for each model, by number of parameters and average mutation "
        "effect, and a line through them, or through the mean of models of one size.",
        _size_table(rows),
    )


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


def plot_of(chart: Any, title: str, description: str, table: TableBlock) -> Figure:
    """A chart of Altair as a figure, in the common style."""
    axis = {
        "labelColor": _INK,
        "titleColor": _INK,
        "domainColor": _INK,
        "tickColor": _INK,
        "gridColor": _GREY,
        "labelLimit": 240,
        "labelFontSize": 12,
    }
    legend = {"labelColor": _INK, "titleColor": _INK, "labelLimit": 240, "orient": "bottom", "columns": 3}
    configured = (
        chart.properties(description=description, background="transparent")
        .configure(font="system-ui, sans-serif")
        .configure_axis(**axis)
        .configure_legend(**legend)
        .configure_header(labelColor=_INK, titleColor=_INK)
        .configure_view(stroke=None)
    )
    return Figure(title, description, table, configured.to_dict())


def _groups(effects: RunEffects) -> Iterator[tuple[str, str, EffectSummary]]:
    for model, by_mutation in effects.mutations.items():
        for name in effects.names:
            if name in by_mutation:
                yield model, name, by_mutation[name]


def _counted(found: EffectSummary) -> tuple[int, ...]:
    """The number of pairs with each of `OUTCOMES`, in that order."""
    held = found.average.n - found.lost - found.gained
    return held, found.lost, found.gained, found.uninformative, found.unjudged


def _by_model(effects: RunEffects) -> tuple[Any, Any]:
    """Colour and shape of a model; with several models a legend, in which a click selects one."""
    alt = _alt()
    legend = alt.Legend(title=None) if len(effects.models) > 1 else None
    models = list(effects.models)
    # The same domain for both, or each gets its own legend.
    colour = alt.Color("model:N", scale=alt.Scale(domain=models, range=COLOURS), legend=legend)
    return colour, alt.Shape("model:N", scale=alt.Scale(domain=models), legend=legend)


def _share(field: str, title: str) -> Any:
    alt = _alt()
    return alt.X(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))


def _percent(field: str) -> Any:
    return _alt().Tooltip(f"{field}:Q", format=".0%")


def _figure(field: str, kind: Any = None) -> Any:
    return (kind or _alt().Tooltip)(f"{field}:Q", format=".2f")


def _table(title: str, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> TableBlock:
    return TableBlock(title, columns, tuple(tuple(row[name] for name in columns) for row in rows))


def _alt() -> Any:
    import altair

    return altair
