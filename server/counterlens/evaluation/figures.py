"""From records to tables: the same records give the same tables, byte for byte.

Records are taken in the order of the plan, intervals are drawn with the run's seed, and nothing here reads a
clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from counterlens.errors import DataError
from counterlens.evaluation.settings import Settings
from counterlens.evaluation.store import PROBED, Item, Record, Store
from counterlens.metrics.summary import Observation
from counterlens.probes.pair_records import observations as pair_observations
from counterlens.probes.pairs import PairTask
from counterlens.probes.registry import BENCHABLE
from counterlens.probes.task import Cell, Comparing, Table


@dataclass(frozen=True)
class Found:
    """What a run has found so far.

    Attributes:
        settings: Of the run.
        total: Items of the plan.
        manifests: By digest.
        records: In the order of the plan.
        totals: Items of the plan by task.
        further: Tables that take too long to be made anew for every report (`evaluation/estimated.py`).
    """

    settings: Settings
    total: int
    manifests: Mapping[str, Mapping[str, Any]]
    records: tuple[tuple[Item, Record], ...]
    totals: Mapping[str, int] = field(default_factory=dict)
    further: tuple[Table, ...] = ()

    @classmethod
    def read(cls, folder: Path) -> Found:
        """The run in a folder, finished or not.

        Raises:
            DataError: there is none.
        """
        with Store.open(folder) as store:
            settings = store.settings
            if settings is None:  # Store.open has looked
                raise ValueError(folder)
            totals = Counter(item.task for item in store.items)
            return cls(settings, totals.total(), store.manifests, tuple(store.records()), totals)

    @property
    def models(self) -> tuple[str, ...]:
        """The models, as the user named them."""
        return self.settings.models

    @cached_property
    def left_out(self) -> dict[str, int]:
        """How many records are of functions that could not be probed, by reason, most frequent first."""
        reasons = Counter(record.reason for _, record in self.records if record.outcome != PROBED)
        return dict(sorted(reasons.items(), key=lambda one: (-one[1], one[0])))

    def of(self, model: str) -> list[tuple[Item, Record]]:
        """The records of one model."""
        return [(item, record) for item, record in self.records if item.model == model]

    @property
    def parts(self) -> tuple[Found, ...]:
        """The same, one task at a time."""
        return tuple(self.only(task) for task in self.settings.tasks)

    def only(self, task: str) -> Found:
        """What was found of one task.

        Raises:
            DataError: the run is of other tasks.
        """
        if task not in self.settings.tasks:
            raise DataError(f"the run is not of the task {task}", f"It is of {self.settings.task}")
        records = tuple((item, record) for item, record in self.records if item.task == task)
        total = self.totals.get(task, self.total)
        return replace(self, settings=replace(self.settings, tasks=(task,)), total=total, records=records)

    def tables(self) -> list[Table]:
        """The tables of each task, the models side by side; then the further ones."""
        several = len(self.settings.tasks) > 1
        own = [
            replace(table, title=f"{part.settings.task}: {table.title}") if several else table
            for part in self.parts
            for table in _tables(part)
        ]
        return [*own, *self.further]


def observations(records: Iterable[tuple[Item, Record]]) -> list[Observation]:
    """The pairs of some records that were judged for their effect, as far as that goes."""
    return pair_observations(
        pair
        for item, record in records
        for pair in _named(item, record).get("pairs", ())
        if "original_right" in pair
    )


def _named(item: Item, record: Record) -> Mapping[str, Any]:
    """The body of a record, whose pairs say of which function they are."""
    body = record.body
    if "pairs" not in body:
        return body
    names = {"target": item.problem, "function": item.function}
    return {**body, "pairs": [names | pair for pair in body["pairs"]]}


def _tables(part: Found) -> Iterator[Table]:
    """How many functions of each model could be probed; then the task's own tables."""
    task, seed = BENCHABLE[part.settings.task], part.settings.seed
    paired = isinstance(task, PairTask)
    counts: list[tuple[Cell, ...]] = []
    for model in part.models:
        every = [record for _, record in part.of(model)]
        probed = [record for record in every if record.outcome == PROBED]
        unpaired = (sum(not record.body.get("pairs") for record in probed),) if paired else ()
        counts.append((model, len(probed), *unpaired, len(every) - len(probed)))
    columns = ("model", "probed", *(("of them without a pair",) if paired else ()), "left out")
    yield Table("functions asked about", columns, tuple(counts))
    found = {
        model: [_named(item, one) for item, one in part.of(model) if one.outcome == PROBED]
        for model in part.models
    }
    if isinstance(task, PairTask):
        yield from task.side_by_side(found, seed=seed)
    else:
        yield from _merged({model: task.tables(some, seed=seed) for model, some in found.items() if some})
        if isinstance(task, Comparing) and len(found) > 1 and all(found.values()):
            yield from task.across(found, seed=seed)
    yield from _not_counted(found)


def _merged(found: Mapping[str, Sequence[Table]]) -> Iterator[Table]:
    """Tables of one title as one, with a column that names the model."""
    titles = dict.fromkeys(table.title for tables in found.values() for table in tables)
    for title in titles:
        same = [(model, table) for model, tables in found.items() for table in tables if table.title == title]
        rows = tuple((model, *row) for model, table in same for row in table.rows)
        first = same[0][1]
        yield replace(first, columns=("model", *first.columns), rows=rows)


def _not_counted(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Table]:
    """What of the functions does not count, by the task's own reasons."""
    rows: list[tuple[Cell, ...]] = []
    for model, bodies in found.items():
        reasons = Counter[str]()
        for body in bodies:
            reasons.update(body.get("left_out", {}))
        ordered = sorted(reasons.items(), key=lambda one: (-one[1], one[0]))
        rows += [(model, count, reason) for reason, count in ordered]
    if rows:
        yield Table("does not count", ("model", "n", "reason"), tuple(rows))
