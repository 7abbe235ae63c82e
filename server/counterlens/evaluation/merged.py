"""Several runs of one task and one protocol in one set of tables, as in Hooda et al. 2024.

A run has one dataset, one endpoint and one prompt format; merged runs have several. HumanEval and MBPP are
one row, as in the paper's Table 2, and every other dataset has separate rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from counterlens.errors import DataError
from counterlens.evaluation.effects import RunEffects, sizes_of
from counterlens.evaluation.results import RunResults
from counterlens.metrics.table import Table
from counterlens.probes.pairs.methods import METHODS
from counterlens.probes.pairs.published_tables import Groups
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.tables import observations
from counterlens.probes.protocols import under

_TOGETHER = ("humaneval", "mbpp")


@dataclass(frozen=True)
class MergedRuns:
    """Merged runs.

    Attributes:
        task: The common task.
        protocol: The common published protocol, if any.
        seed: Random seed of intervals.
        records: Records by dataset and model.
        sizes: Number of parameters by model, if known.
        sources: A description of each run.
    """

    task: str
    protocol: str
    seed: int
    records: Groups
    sizes: Mapping[str, int]
    sources: tuple[str, ...]

    @classmethod
    def of(cls, runs: Sequence[RunResults], sizes: Mapping[str, int] | None = None) -> MergedRuns:
        """Merge runs.

        Args:
            runs: The runs, each of one task.
            sizes: Numbers of parameters given by the user, by model.

        Raises:
            DataError: the runs are not of one pair task with the same options, or two have the same items.
        """
        task = _common_task(runs)
        names, datasets = _names(runs), _datasets(runs)
        given, records = dict(sizes or {}), dict[tuple[str, ...], list[PairsRecord]]()
        known: dict[str, int] = {}
        asked: set[tuple[str, str]] = set()
        for run, dataset in zip(runs, datasets, strict=True):
            own = sizes_of(run) | {run.label(spec): size for spec, size in given.items()}
            for model in run.models:
                name = names[_asked_as(run, model)]
                size = own.get(name, own.get(model))
                if size is not None:
                    known[name] = size
                questions = {(name, item.problem) for item, _ in run.of(model)}
                if asked & questions:
                    raise DataError(f"two runs have {name} in common", "Give each run once")
                asked |= questions
                some = [record for record in run.probed(model) if isinstance(record, PairsRecord)]
                records.setdefault((dataset, name), []).extend(some)
        settings = runs[0].settings
        return cls(
            task,
            settings.options_of(task).chosen_protocol,
            settings.seed,
            records,
            known,
            tuple(_source(run) for run in runs),
        )

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the datasets, or of groups of datasets."""
        return tuple(dict.fromkeys(dataset for dataset, _ in self.records))

    def tables(self) -> list[Table]:
        """Effects and counts over all runs, then the correlates of errors, by dataset."""
        made = METHODS[self.protocol].merged_tables(
            self.records, self._counted(), repair=self.task == "repair"
        )
        return [
            *under(self.protocol, made),
            *(
                replace(table, title=f"{dataset}: {table.title}")
                for dataset, effects in self.effects().items()
                for table in effects.associations()
            ),
        ]

    def effects(self) -> dict[str, RunEffects]:
        """The effects of each dataset whose pairs are cut once, for all models."""
        by_dataset = {}
        for dataset in self.datasets:
            pairs = {
                model: observations(records)
                for (title, model), records in self.records.items()
                if title == dataset
            }
            effects = RunEffects.of_pairs(dataset, pairs, self.sizes, protocol=self.protocol, seed=self.seed)
            if effects.names and not self._several_cuts:
                by_dataset[dataset] = effects
        return by_dataset

    @property
    def _several_cuts(self) -> bool:
        return any(
            pair.cut_range for records in self.records.values() for record in records for pair in record.pairs
        )

    def _counted(self) -> dict[tuple[str, ...], list[PairsRecord]]:
        """The records of all models by dataset; with several datasets, also those of all."""
        counted: dict[tuple[str, ...], list[PairsRecord]] = {}
        for (dataset, _), records in self.records.items():
            counted.setdefault((dataset,), []).extend(records)
        if len(counted) > 1:
            counted["total",] = [record for records in counted.values() for record in records]
        return counted


def _common_task(runs: Iterable[RunResults]) -> str:
    """The task of all runs.

    Raises:
        DataError: there is no common task, or its options differ.
    """
    first, *others = runs
    task = first.settings.task
    for run in (first, *others):
        if run.settings.tasks != (task,):
            raise DataError(
                f"the runs are of the tasks {task} and {run.settings.task}",
                "Merge runs of one task, or one task of each: --task",
            )
        mine, theirs = first.settings.options.get(task, {}), run.settings.options.get(task, {})
        for name in sorted({*mine, *theirs}):
            if mine.get(name) != theirs.get(name):
                raise DataError(
                    f"the runs have different options: {name} is {mine.get(name)!r} and {theirs.get(name)!r}",
                    "One table needs figures of the same definition",
                )
    if not any(
        isinstance(stored.record, PairsRecord) for run in (first, *others) for _, stored in run.records
    ):
        raise DataError("the runs have no counterfactual pairs", "Runs of completion or repair have them")
    return task


def _asked_as(run: RunResults, model: str) -> tuple[str, str, str]:
    api, url = run.settings.served(model)
    return model, api, url or ""


def _names(runs: Sequence[RunResults]) -> dict[tuple[str, str, str], str]:
    """The name of each model, with its prompt format and endpoint if these differ among the runs."""
    ways = dict.fromkeys(_asked_as(run, model) for run in runs for model in run.models)
    names = {}
    for model, api, url in ways:
        same = [way for way in ways if way[0] == model]
        how = [api] if len({interface for _, interface, _ in same}) > 1 else []
        where = [urlsplit(url).netloc or "here"] if len({address for _, _, address in same}) > 1 else []
        names[model, api, url] = f"{model} ({', '.join((*how, *where))})" if how or where else model
    return names


def _datasets(runs: Sequence[RunResults]) -> list[str]:
    """The name of each run's data; HumanEval and MBPP are one."""
    known = [_manifest_data(run) for run in runs]
    together = " + ".join(dict.fromkeys(title for id_, title in sorted(known) if id_ in _TOGETHER))
    return [together if id_ in _TOGETHER else title for id_, title in known]


def _manifest_data(run: RunResults) -> tuple[str, str]:
    for manifest in run.manifests.values():
        data: Mapping[str, Any] = manifest["dataset"]
        return str(data.get("dataset", "")), str(data["title"])
    return "", run.settings.data


def _source(run: RunResults) -> str:
    """A description of a run: its data, models, and progress."""
    settings = run.settings
    where = f" at {settings.base_url}" if settings.base_url else ""
    apis = ", ".join(dict.fromkeys(settings.served(model)[0] for model in run.models))
    done = "" if len(run.records) == run.total else f", not finished: {len(run.records)} of {run.total}"
    return f"{_manifest_data(run)[1]}: {', '.join(run.models)} ({apis}{where}){done}"
