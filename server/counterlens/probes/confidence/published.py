"""The tables of the protocol `astxplainer` (Palacio et al. 2023, section VI-B, Table I, Figures 3 and 6).

The tables also show Counterlens's own definition on the same scores: the median over functions of the mean
over a function's nodes, for every named node type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, median

from counterlens.metrics.agreement import few_points, spearman
from counterlens.metrics.asc_eval import (
    GLOBAL,
    RESAMPLES,
    THRESHOLD,
    CategoryMean,
    TypeMedian,
    category_means,
    type_medians,
)
from counterlens.metrics.bootstrap import pooled_mean
from counterlens.metrics.table import Cell, Table
from counterlens.probes.confidence.record import ConfidenceRecord
from counterlens.syntax.concepts import NO_CONCEPTS, category_of
from counterlens.syntax.concepts.sets import AUTHORS, concept_set

ASTXPLAINER = "astxplainer"

_BY_TYPE = (
    f"the nodes of a type, pooled over all functions: the median of {RESAMPLES} bootstrap medians of their "
    "confidences, which are means over their tokens; standard error: the standard deviation of these medians"
)
_BY_CATEGORY = (
    "mean over the node types of the medians by node type; standard error: of that mean over types; "
    f"bootstrap error: mean of the types' standard errors; acceptable from {THRESHOLD} on, else erroneous "
    "(Palacio et al. 2023, Table I and section VII-A)"
)
_OWN = (
    "by Counterlens's own definition: median over functions of the mean over a function's nodes, all named "
    "node types that its tables give the category"
)
_SHORT = {
    "data structures": "data str.",
    "exceptions": "except.",
    "functional programming": "f. prog.",
    "iteration": "iter.",
    "natural language": "NL",
    "operators": "oper.",
}
"""Category to column name of Table I."""


def types_of(records: Sequence[ConfidenceRecord], *, seed: int = 0) -> list[TypeMedian]:
    """The 32 node types, pooled over some functions."""
    return type_medians((record.confidences() for record in records), concept_set(AUTHORS), seed=seed)


def means_of(records: Sequence[ConfidenceRecord], *, seed: int = 0) -> list[CategoryMean]:
    """A model's row of Table I: Global, then the categories."""
    return category_means(types_of(records, seed=seed), concept_set(AUTHORS))


def own_medians(records: Sequence[ConfidenceRecord]) -> dict[str, float]:
    """By category, the median over functions of the mean over a function's nodes: our own definition."""
    medians: dict[str, list[float]] = {}
    for record in records:
        nodes: dict[str, list[float]] = {}
        for kind, confidences in record.confidences(named_only=True).items():
            category = category_of("python", kind)
            if category not in NO_CONCEPTS:
                nodes.setdefault(category, []).extend(confidences)
                nodes.setdefault(GLOBAL, []).extend(confidences)
        for name, inside in nodes.items():
            medians.setdefault(name, []).append(mean(inside))
    return {name: median(values) for name, values in medians.items()}


def published_tables(records: Sequence[ConfidenceRecord], *, seed: int) -> tuple[Table, ...]:
    """The figures of one model: overall, by category, by node type, best and worst, both definitions."""
    types = types_of(records, seed=seed)
    means, own = category_means(types, concept_set(AUTHORS)), own_medians(records)
    return (
        _whole(records),
        _by_category(means, types),
        _by_type(types),
        _extremes(means, types),
        _both(means, own),
        _agreement(means, own),
    )


def published_comparison(models: Mapping[str, Sequence[ConfidenceRecord]], *, seed: int) -> tuple[Table, ...]:
    """Table I in the layout of the paper; for several models also the best beside the worst (Figure 3)."""
    lines = {model: means_of(records, seed=seed) for model, records in models.items() if records}
    tables = [_table_one(lines)]
    ranked = sorted(lines, key=lambda model: -(_mean_of(lines[model], GLOBAL) or 0.0))
    if len(ranked) > 1:
        tables.append(_best_and_worst(ranked[0], lines[ranked[0]], ranked[-1], lines[ranked[-1]]))
    return tuple(tables)


def _whole(records: Sequence[ConfidenceRecord]) -> Table:
    loss = pooled_mean(((record.target, record.cross_entropy) for record in records), least=0)
    row: tuple[Cell, ...] = (len(records), sum(record.tokens for record in records), loss)
    columns = ("functions", "tokens", "cross-entropy (nats)")
    note = "each function alone, its first token unscored; cross-entropy: mean over functions"
    return Table("the functions as a whole", columns, (row,), note)


def _by_category(means: Sequence[CategoryMean], types: Sequence[TypeMedian]) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            mean.category,
            f"{mean.types} of {mean.of}",
            mean.value,
            mean.standard_error,
            mean.bootstrap_error,
            _verdict(mean.value),
        )
        for mean in means
    )
    columns = ("category", "node types", "confidence", "standard error", "bootstrap error", "verdict")
    return Table("AsC-Eval by category", columns, rows, _BY_CATEGORY + _alone(types))


def _by_type(types: Sequence[TypeMedian]) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            node_type.category,
            node_type.kind,
            node_type.snippets,
            node_type.nodes,
            node_type.value,
            node_type.standard_error,
            _verdict(node_type.value),
        )
        for node_type in types
    )
    columns = ("category", "node type", "functions", "nodes", "confidence", "standard error", "verdict")
    return Table("AsC-Eval by node type", columns, rows, _BY_TYPE + _alone(types))


def _alone(types: Sequence[TypeMedian]) -> str:
    """The end of a note: the node types that a category rests on although they occur in one function only."""
    rare = [node_type.kind for node_type in types if node_type.snippets == 1]
    return f"; in one function only, so that its figure says little: {', '.join(rare)}" if rare else ""


def _extremes(means: Sequence[CategoryMean], types: Sequence[TypeMedian]) -> Table:
    categories = [(mean.category, mean.value) for mean in means if mean.category != GLOBAL]
    named = {"category": categories, "node type": [(node_type.kind, node_type.value) for node_type in types]}
    rows: list[tuple[Cell, ...]] = []
    for what, pairs in named.items():
        if pairs:
            best, worst = max(pairs, key=lambda pair: pair[1]), min(pairs, key=lambda pair: pair[1])
            rows += [
                (f"best {what}", *best, _verdict(best[1])),
                (f"worst {what}", *worst, _verdict(worst[1])),
            ]
    note = f"acceptable from {THRESHOLD} on, else erroneous (Palacio et al. 2023, section VII-A)"
    return Table("best and worst concepts", ("which", "concept", "confidence", "verdict"), tuple(rows), note)


def _both(means: Sequence[CategoryMean], own: Mapping[str, float]) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (mean.category, mean.value, own.get(mean.category)) for mean in means
    )
    columns = ("category", "AsC-Eval", "Counterlens")
    return Table("both definitions on the same scores", columns, rows, f"AsC-Eval, and {_OWN}")


def _agreement(means: Sequence[CategoryMean], own: Mapping[str, float]) -> Table:
    pairs = [
        (mean.value, own[mean.category]) for mean in means if mean.category in own and mean.category != GLOBAL
    ]
    note = "Spearman's rank correlation of the categories between both definitions" + few_points([len(pairs)])
    row: tuple[Cell, ...] = (len(pairs), spearman(pairs).value)
    return Table("agreement of both definitions", ("categories", "rank correlation"), (row,), note)


def _table_one(lines: Mapping[str, Sequence[CategoryMean]]) -> Table:
    categories = (GLOBAL, *concept_set(AUTHORS).categories)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (model, *(_mean_of(means, category) for category in categories)) for model, means in lines.items()
    )
    columns = ("model", *(_SHORT.get(category, category) for category in categories))
    return Table("AsC-Eval performance, Table I", columns, rows, _BY_CATEGORY)


def _best_and_worst(
    best: str, high: Sequence[CategoryMean], worst: str, low: Sequence[CategoryMean]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for category in (GLOBAL, *concept_set(AUTHORS).categories):
        above, below = _mean_of(high, category), _mean_of(low, category)
        if above is not None and below is not None:
            rows.append((category, below, above, above - below, _verdict(below), _verdict(above)))
    rows.sort(key=lambda row: (row[0] != GLOBAL, -float(row[3]) if isinstance(row[3], float) else 0.0))
    columns = ("category", worst, best, "increase", f"{worst} is", f"{best} is")
    note = (
        "the models with the lowest and the highest Global; largest increase first; acceptable from "
        f"{THRESHOLD} on, else erroneous (Palacio et al. 2023, Figure 3)"
    )
    return Table("best and worst model", columns, tuple(rows), note)


def _verdict(value: float) -> str:
    return "acceptable" if value >= THRESHOLD else "erroneous"


def _mean_of(means: Sequence[CategoryMean], category: str) -> float | None:
    return next((mean.value for mean in means if mean.category == category), None)
