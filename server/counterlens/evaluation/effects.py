"""Effects of a run in the layout of Hooda et al. 2024, who define them: Tables 1 and 2, Figures 3 and 4.

The correlation of a model's errors between mutations (Hooda et al. 2024, Figure 4).

The unit is a function, because the pairs of one are correlated: its value for a mutation is the mean effect
of its informative pairs. Two mutations are correlated over the functions with informative pairs of both.
Fewer than ten functions show nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from operator import attrgetter
from typing import Any

from counterlens.evaluation.results import RunResults
from counterlens.metrics.agreement import few_points, pearson, spearman
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.noise_floor import AboveFloor
from counterlens.metrics.significance import DETECTABLE_DIFFERENCE, POWER, ModelComparison, compare_pairwise
from counterlens.metrics.summary import EffectSummary, Observation, summaries_by, summarize
from counterlens.metrics.table import Cell, Table
from counterlens.models.parameters import parameter_count, short_count
from counterlens.probes.pairs.floor_tables import overall_floor
from counterlens.probes.pairs.methods import METHODS
from counterlens.probes.pairs.published import PAPER_ORDER
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.tables import observations
from counterlens.probes.protocols import under

LEAST_FUNCTIONS = 10

_WIDEST = 5  # mutations side by side, as in the paper
_AVERAGES_NOTE = (
    "share of the informative pairs whose verdict changed, with 95 % intervals; the columns of Hooda et al. "
    "2024, Table 2, for the mutations used; uncontested passes: over pairs whose passes do not differ from "
    "the original on any input"
)


@dataclass(frozen=True)
class RunEffects:
    """The summary of the pairs of a run.

    Attributes:
        dataset: The data's title.
        mutations: The pairs of each model by mutation.
        names: The mutations that occur, in the paper's order.
        correlations: Correlations between every two mutations, by model.
        sizes: Number of parameters by model, if known.
        comparisons: Comparisons of every two models.
        protocol: The published protocol; its averages and counts are among the task's own tables.
        floors: All pairs of each model that has placebos, with the noise floor.
    """

    dataset: str
    models: Mapping[str, EffectSummary]
    mutations: Mapping[str, Mapping[str, EffectSummary]]
    names: tuple[str, ...]
    correlations: Mapping[str, Mapping[tuple[str, str], Estimate]]
    sizes: Mapping[str, int]
    comparisons: tuple[ModelComparison, ...] = ()
    protocol: str = ""
    floors: Mapping[str, AboveFloor] = field(default_factory=dict)

    @classmethod
    def of(cls, run: RunResults, sizes: Mapping[str, int] | None = None) -> RunEffects:
        """The effects of a run of one task, with intervals from the run's seed.

        Args:
            sizes: Numbers of parameters given by the user, by model.
        """
        settings = run.settings
        effects = cls.of_pairs(
            _dataset(run),
            observations_of(run),
            sizes_of(run) | {run.label(spec): size for spec, size in (sizes or {}).items()},
            protocol=settings.options_of(settings.tasks[0]).chosen_protocol,
            seed=settings.seed,
        )
        all_pairs = {model: overall_floor(_pair_records(run, model)) for model in run.models}
        return replace(effects, floors={model: floor for model, floor in all_pairs.items() if floor.placebos})

    @classmethod
    def of_pairs(
        cls,
        dataset: str,
        pairs: Mapping[str, Sequence[Observation]],
        sizes: Mapping[str, int],
        *,
        protocol: str = "",
        seed: int = 0,
    ) -> RunEffects:
        """The effects of pairs.

        Args:
            dataset: The data's title.
            pairs: Pairs by model.
            sizes: Numbers of parameters by model, including models without pairs.
            protocol: The published protocol, if any.
            seed: Random seed of intervals.
        """
        seen = {pair.mutation for some in pairs.values() for pair in some if pair.effect is not None}
        published = [mutation for mutation in PAPER_ORDER if mutation in seen]
        return cls(
            dataset=dataset,
            models={model: summarize(some) for model, some in pairs.items()},
            mutations={model: summaries_by(some, attrgetter("mutation")) for model, some in pairs.items()},
            names=(*published, *sorted(seen - {*published})),
            correlations={model: effect_correlations(some, seed=seed) for model, some in pairs.items()},
            sizes={model: size for model, size in sizes.items() if model in pairs},
            comparisons=compare_pairwise(pairs, seed=seed),
            protocol=protocol,
        )

    def tables(self) -> list[Table]:
        """The non-empty tables."""
        if not self.names:
            return []
        method = METHODS[self.protocol]
        own = [*self._averages(), self._counts(), *self._comparison_table()] if method.run_tables else []
        return [*own, *self.associations()]

    def associations(self) -> list[Table]:
        """Correlates of effects: those of other mutations, and the model's size (Figures 4 and 3)."""
        return [*under(self.protocol, [*self._correlation_tables(), *self._by_size()])]

    def trends(self) -> dict[str, Estimate]:
        """For each mutation, Spearman's correlation of its effect with model size."""
        return {name: spearman(points) for name in self.names if len(points := self.points(name)) > 2}

    def points(self, mutation: str) -> list[tuple[float, float]]:
        """(parameters, effect) of each model with a known size and informative pairs."""
        return [
            (float(self.sizes[model]), value)
            for model, by_mutation in self.mutations.items()
            if model in self.sizes
            and mutation in by_mutation
            and (value := by_mutation[mutation].average.value) is not None
        ]

    def _averages(self) -> list[Table]:
        tables: list[Table] = []
        panels = _panels(self.names)
        for number, names in enumerate(panels):
            rows: list[tuple[Cell, ...]] = []
            for model, summary in self.models.items():
                floors = (self.floors[model].floor if model in self.floors else None,) if self.floors else ()
                head = (summary.original_accuracy, *floors)
                by_name = [self.mutations[model].get(name) for name in names]
                rows.append((self.dataset, model, *head, *map(_average, by_name)))
                if summary.uncontested is not None and summary.uncontested.contested.count:
                    label = f"{model}, uncontested passes"
                    rows.append((self.dataset, label, *head, *map(_uncontested_average, by_name)))
            title = "average mutation effect"
            if number:
                title += ", other mutations" + (f" ({number})" if len(panels) > 2 else "")
            floor = ("noise floor",) if self.floors else ()
            columns = ("dataset", "model", "original accuracy", *floor, *names)
            tables.append(Table(title, columns, tuple(rows), _AVERAGES_NOTE if not number else ""))
        return tables

    def _counts(self) -> Table:
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (name, *(_pairs(self.mutations[model].get(name)) for model in self.models)) for name in self.names
        )
        note = "judged pairs; Hooda et al. 2024, Table 1"
        return Table("counterfactual pairs", ("mutation", *self.models), rows, note)

    def _comparison_table(self) -> Iterable[Table]:
        if self.comparisons:
            yield Table(
                "comparison of models",
                (
                    "model",
                    "other model",
                    "difference",
                    "functions",
                    "significant",
                    "functions needed for 10 points",
                ),
                tuple(
                    (
                        comparison.first,
                        comparison.second,
                        comparison.difference,
                        comparison.difference.n,
                        "yes" if comparison.significant else "no",
                        comparison.needed,
                    )
                    for comparison in self.comparisons
                ),
                "difference: of the shares of right completions, of originals and counterfactuals, over the "
                "same functions; all intervals hold simultaneously at 95 %; significant: 0 is outside the "
                f"interval; functions needed for {100 * DETECTABLE_DIFFERENCE:.0f} points: with {POWER:.0%} "
                "power",
            )

    def _correlation_tables(self) -> Iterable[Table]:
        for model, correlations in self.correlations.items():
            defined = {
                both: correlation
                for both, correlation in correlations.items()
                if correlation.value is not None
            }
            if not defined:
                continue
            rows = tuple(
                (first, second, correlation, correlation.n)
                for (first, second), correlation in defined.items()
            )
            yield Table(
                f"correlation of effects, {model}",
                ("mutation", "mutation", "Pearson's r", "functions"),
                rows,
                "Pearson's r: of the functions' mean effects, with 95 % intervals over functions (Hooda et "
                f"al. 2024, Figure 4); {len(correlations) - len(defined)} pairs of mutations are left out, "
                "because "
                "they share fewer than ten functions with informative pairs, or because one never varies",
            )

    def _by_size(self) -> Iterable[Table]:
        if len(self.sizes) < 2:
            return
        ordered = sorted(self.sizes.items(), key=lambda entry: entry[1])
        rows: list[tuple[Cell, ...]] = [
            (name, *(_average(self.mutations[model].get(name)) for model, _ in ordered), _trend(trend))
            for name, trend in ((name, self.trends().get(name)) for name in self.names)
        ]
        columns = ("mutation", *(f"{model} ({short_count(size)})" for model, size in ordered), "trend")
        yield Table(
            "effect by model size",
            columns,
            tuple(rows),
            "models by number of parameters (Hooda et al. 2024, Figure 3); trend: Spearman's correlation of "
            "size and effect, for at least three models. With few models, this describes the data only"
            + few_points([len(ordered)]),
        )


def observations_of(run: RunResults) -> dict[str, list[Observation]]:
    """The pairs of each model of a run of one task."""
    return {model: observations(_pair_records(run, model)) for model in run.models}


def judged_parts(run: RunResults) -> Iterable[RunResults]:
    """The tasks of a run with judged pairs that are cut once."""
    for part in run.parts:
        cut_often = part.settings.options.get(part.settings.task, {}).get("cut_ranges")
        if not cut_often and any(_pair_records(part, model) for model in part.models):
            yield part


def tables_of_runs(runs: Mapping[str, RunResults], sizes: Mapping[str, int] | None = None) -> list[Table]:
    """The tables of several runs, those with equal columns as one, whose first column names the run.

    Args:
        runs: The runs by name.
        sizes: Numbers of parameters given by the user, by model.
    """
    tables: dict[tuple[str, tuple[str, ...]], Table] = {}
    for name, run in runs.items():
        for table in all_tables(run, effects_of(run, sizes)):
            key = table.title, table.columns
            before = tables.get(key, replace(table, columns=("run", *table.columns), rows=()))
            tables[key] = replace(before, rows=(*before.rows, *((name, *row) for row in table.rows)))
    return list(tables.values())


def effects_of(run: RunResults, sizes: Mapping[str, int] | None = None) -> dict[str, RunEffects]:
    """The effects of every task of a run with judged pairs that are cut once, by task.

    Args:
        sizes: Numbers of parameters given by the user, by model.
    """
    each = {part.settings.task: RunEffects.of(part, sizes) for part in judged_parts(run)}
    return {task: effects for task, effects in each.items() if effects.names}


def all_tables(run: RunResults, effects: Mapping[str, RunEffects] | None = None) -> list[Table]:
    """The non-empty tables of every task, and those of effects in the paper's layout.

    Args:
        effects: Its effects by task, if already computed.
    """
    effects = effects_of(run) if effects is None else effects
    several = len(run.settings.tasks) > 1
    return [table for table in run.tables() if table.rows] + [
        replace(table, title=f"{task}: {table.title}") if several else table
        for task, task_effects in effects.items()
        for table in task_effects.tables()
    ]


def _average(summary: EffectSummary | None) -> Cell:
    return None if summary is None else summary.average


def _uncontested_average(summary: EffectSummary | None) -> Cell:
    return None if summary is None or summary.uncontested is None else summary.uncontested.average


def _pairs(summary: EffectSummary | None) -> int:
    return 0 if summary is None else summary.pairs - summary.unjudged


def _trend(estimate: Estimate | None) -> str | None:
    return None if estimate is None or estimate.value is None else f"{estimate.value:+.2f}"


def _panels(names: Sequence[str]) -> list[tuple[str, ...]]:
    """The paper's mutations first, then the others, at most five side by side."""
    ours = [name for name in names if name in PAPER_ORDER]
    others = [name for name in names if name not in PAPER_ORDER]
    panels = math.ceil(len(others) / _WIDEST)
    width = math.ceil(len(others) / panels) if panels else 1
    chunks = [tuple(others[i : i + width]) for i in range(0, len(others), width)]
    return ([tuple(ours)] if ours else []) + chunks


def _pair_records(run: RunResults, model: str) -> list[PairsRecord]:
    return [record for record in run.probed(model) if isinstance(record, PairsRecord)]


def _dataset(run: RunResults) -> str:
    for manifest in run.manifests.values():
        return str(manifest["dataset"]["title"])
    return run.settings.data


def sizes_of(run: RunResults) -> dict[str, int]:
    """The number of parameters of each model of a run, if known."""
    sizes = {}
    for manifest in run.manifests.values():
        model: Mapping[str, Any] = manifest["model"]
        size = parameter_count(model["details"], f"{model['name']} {model['asked_as']}")
        if size is not None:
            sizes[run.label(str(model["asked_as"]))] = size
    return sizes


def effect_correlations(
    observations: Iterable[Observation], *, seed: int = 0
) -> dict[tuple[str, str], Estimate]:
    """Pearson's correlation of the effects of every two mutations, with intervals over functions.

    Args:
        observations: The pairs of one model.
        seed: Random seed of the bootstrap.

    Returns:
        For every two mutations for which some function has informative pairs, sorted by name; the value is
        None, with n, if fewer than ten functions have both, or one of the effects is constant.
    """
    effects: dict[str, dict[tuple[str, str], list[int]]] = {}
    for pair in observations:
        if pair.effect is not None and pair.effect.informative:
            of_mutation = effects.setdefault(pair.mutation, {})
            of_mutation.setdefault(pair.cluster, []).append(pair.effect.mutation_effect)
    correlations = {}
    for first, second in combinations(sorted(effects), 2):
        both = [cluster for cluster in effects[first] if cluster in effects[second]]
        if both:
            pairs = [(_mean(effects[first][cluster]), _mean(effects[second][cluster])) for cluster in both]
            enough = len(pairs) >= LEAST_FUNCTIONS
            correlations[first, second] = (
                pearson(pairs, seed=seed) if enough else Estimate(None, None, None, len(pairs))
            )
    return correlations


def _mean(values: list[int]) -> float:
    return sum(values) / len(values)
