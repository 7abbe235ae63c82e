"""The experiments of papers: which tasks on which data make a table; and several runs as one.

To add one: name its protocol, its tables, its tasks and its data in `EXPERIMENTS`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import attrgetter
from typing import Any

from counterlens.errors import DataError, OptionError
from counterlens.evaluation.results import RunResults
from counterlens.metrics.effects import Proportion, wilson
from counterlens.models.usage import Usage
from counterlens.probes.sanity import unsteady_share


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """The runs that make some tables of a paper.

    Attributes:
        about: What they show, in a few words.
        tasks: The probes.
        populations: The datasets; the functions of those together have one row of figures.
        tables: Their names in the paper; empty if they have none.
        options: Options of the probes beside those that the protocol fixes.
    """

    about: str
    tasks: tuple[str, ...]
    populations: tuple[tuple[str, ...], ...] = (("humaneval",),)
    tables: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> tuple[str, ...]:
        """The datasets."""
        return tuple(chain(*self.populations))

    def groups_of(self, formats: Mapping[str, Collection[str]]) -> list[tuple[str, ...]]:
        """The populations of some data: together as those of the paper, and each by itself if it has no such.

        Args:
            formats: The ids of the datasets that some data is, or is a part or a variant of.
        """
        together = [each for each in self.populations if len(each) > 1]
        groups: dict[tuple[str, ...], list[str]] = {}
        for data, ids in formats.items():
            population = next((each for each in together if not {*ids}.isdisjoint(each)), (data,))
            groups.setdefault(population, []).append(data)
        return [tuple(group) for group in groups.values()]


EXPERIMENTS: Mapping[str, tuple[Experiment, ...]] = {
    "cacp": (
        Experiment(
            about="mutation effects on completion",
            tasks=("completion",),
            populations=(("humaneval", "mbpp"), ("codecontests",)),
            tables=("1", "2"),
        ),
        Experiment(
            about="mutation effects by comparison operator",
            tasks=("completion",),
            populations=(("humaneval", "mbpp", "codecontests"),),
            tables=("3",),
        ),
        Experiment(
            about="earlier and later cuts",
            tasks=("completion",),
            tables=("4",),
            options={"cut_ranges": ((0.4, 0.6), (0.6, 0.8), (0.8, 1.0))},
        ),
        Experiment(
            about="mutation effects on repair",
            tasks=("repair",),
            populations=(("humanevalpack",),),
            tables=("5",),
        ),
    ),
    "astxplainer": (Experiment(about="probabilities by syntax", tasks=("confidence",), tables=("I", "II")),),
    "codemind": (
        Experiment(
            about="execution reasoning",
            tasks=("execution",),
            populations=(("mbpp",), ("humaneval",), ("cruxeval",), ("codenet",), ("avatar",)),
            tables=("I", "IV"),
        ),
        Experiment(
            about="execution of code that the model wrote",
            tasks=("dependent-execution",),
            populations=(("mbpp",), ("humaneval",)),
            tables=("II",),
        ),
        Experiment(
            about="translation",
            tasks=("dependent-execution",),
            populations=(("humaneval-x",),),
            tables=("III",),
            options={"from_language": "java"},
        ),
        Experiment(about="a test in the description", tasks=("specification",)),
    ),
    "operators": (
        Experiment(
            about="masked operators under swaps",
            tasks=("operator", "embedding"),
            tables=("2", "3", "4", "5", "6", "7", "8", "9"),
        ),
    ),
    "empica": (
        Experiment(
            about="robustness and sensitivity to transformations",
            tasks=("summary", "name", "output", "dependence"),
            tables=("2", "3", "4", "5", "6", "7"),
        ),
    ),
    "reasoning-robustness": (
        Experiment(
            about="predicted outputs under five preserving mutations",
            tasks=("execution",),
            populations=(("cruxeval",),),
        ),
    ),
    "reference": (
        Experiment(
            about="the usual scores, beside the published ones",
            tasks=("reference",),
            populations=(("humanevalplus",), ("mbpp-test",), ("cruxeval",)),
        ),
    ),
    "core": (
        Experiment(about="dependences and information flow", tasks=("dependence",), populations=(("core",),)),
    ),
}
"""The experiments of each protocol, the main one first."""


def experiment_of(protocol: str, table: str | None) -> Experiment:
    """The experiment of a table; the main one of the paper if none is named.

    Raises:
        OptionError: the paper has no such table.
    """
    experiments = EXPERIMENTS[protocol]
    if table is None:
        return experiments[0]
    for experiment in experiments:
        if table.upper() in experiment.tables:
            return experiment
    tables = "; ".join(f"{', '.join(each.tables)} ({each.about})" for each in experiments if each.tables)
    raise OptionError(
        f"{protocol} has no table {table} that is measured here", f"Tables: {tables}" if tables else None
    )


def pool_runs(runs: Sequence[RunResults]) -> RunResults:
    """The results of several runs as those of one: their functions are one population.

    Raises:
        DataError: they differ in their tasks, options or models.
    """
    first, *others = runs
    for name in ("tasks", "options", "models"):
        value = attrgetter(f"settings.{name}")
        if any(value(other) != value(first) for other in others):
            raise DataError(
                f"these runs differ in their {name}, so they are not one population",
                "Without --pool, a column of each table names the run",
            )
    records = (stored for run in runs for stored in run.records)
    data = tuple(dict.fromkeys(run.settings.data for run in runs))
    return replace(
        first,
        settings=replace(first.settings, data=" and ".join(data)),
        total=sum(run.total for run in runs),
        manifests={digest: manifest for run in runs for digest, manifest in run.manifests.items()},
        records=tuple((replace(item, position=at), stored) for at, (item, stored) in enumerate(records)),
        totals={task: sum(run.totals.get(task, 0) for run in runs) for task in first.settings.tasks},
        further=(),
        lost=tuple(lost for run in runs for lost in run.lost),
        unverified=sum(run.unverified for run in runs),
        begun=min((run.begun for run in runs if run.begun), default=None),
        spent=_usage(run.spent for run in runs),
        unsteady=_unsteady_shares(runs),
        speeds={model: speed for run in runs for model, speed in run.speeds.items()},
        elapsed=sum(run.elapsed for run in runs),
        excess={},
    )


def _usage(parts: Iterable[Mapping[str, Usage]]) -> dict[str, Usage]:
    whole: dict[str, Usage] = {}
    for part in parts:
        for model, usage in part.items():
            whole[model] = whole.get(model, Usage()) + usage
    return whole


def _unsteady_shares(runs: Sequence[RunResults]) -> dict[tuple[str, str], Proportion]:
    """The shares of functions with unsteady answers; functions of a run without any count, too."""
    shares = {}
    for model, task in {key for run in runs for key in run.unsteady}:
        parts = [
            run.unsteady.get((model, task))
            or unsteady_share([stored.record for item, stored in run.of(model) if item.task == task])
            for run in runs
        ]
        shares[model, task] = wilson(sum(part.count for part in parts), sum(part.n for part in parts))
    return shares
