"""Computes tables from records: the same records give the same tables, byte for byte.

Records are read in the order of the plan, intervals are computed with the run's seed, and nothing here reads
a clock.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

from counterlens.errors import DataError, UnsteadyModelError
from counterlens.evaluation.decided import Excess, excess_of
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.spending import spending_table
from counterlens.evaluation.store import Item, Store, StoredRecord
from counterlens.metrics.effects import Proportion
from counterlens.metrics.table import Cell, Table
from counterlens.models.speed import ModelSpeed
from counterlens.models.usage import Usage
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.protocols import under
from counterlens.probes.record import Outcome, Record
from counterlens.probes.registry import PROBES
from counterlens.probes.sanity import LIMIT, require_steady, unsteady_share

_EXPORT = "onnx:"
_QUANTIZED = re.compile(r"(.+?)(?:[-_.](?:instruct|chat|it))?[-_.](?:i?q\d|f16|bf16)\w*\.gguf", re.IGNORECASE)
"""A model file such as `coder-0.5b-instruct-q4_k_m.gguf`, which tables call `coder-0.5b`."""


@dataclass(frozen=True)
class RunResults:
    """The results of a run so far.

    Attributes:
        total: Number of items of the plan.
        manifests: Manifests by digest.
        records: Items and records, in the order of the plan; the items name models as tables do.
        totals: Number of items by task.
        lost: Damaged or missing records, each with the problem.
        unverified: Number of records without a checksum, which an earlier version stored.
        further: Tables that take too long to be recomputed for every report (`causal_results.py`).
        spent: The usage of each model, if it was counted.
        speeds: The speed of each model, by its name in tables, if it was measured.
        begun: When the run began, in UTC; None if unknown.
        unsteady: The share of functions with unsteady answers, by model and task; without those that have
            none.
        elapsed: Seconds in which models were asked; 0 if unknown.
        excess: The main figure above chance of each model and task, if the run goes on until it is known.
    """

    settings: RunSettings
    total: int
    manifests: Mapping[str, Mapping[str, Any]]
    records: tuple[tuple[Item, StoredRecord], ...]
    totals: Mapping[str, int] = field(default_factory=dict)
    further: tuple[Table, ...] = ()
    lost: tuple[str, ...] = ()
    unverified: int = 0
    begun: str | None = None
    spent: Mapping[str, Usage] = field(default_factory=dict)
    unsteady: Mapping[tuple[str, str], Proportion] = field(default_factory=dict)
    speeds: Mapping[str, ModelSpeed] = field(default_factory=dict)
    elapsed: float = 0.0
    excess: Mapping[tuple[str, str], Excess] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> RunResults:
        """Read the run in a folder, finished or not.

        Raises:
            DataError: there is no run.
        """
        with Store.open(folder) as store:
            settings = store.settings
            if settings is None:  # Store.open has checked
                raise ValueError(folder)
            totals = Counter(item.task for item in store.items)
            labels = model_labels(settings.models)
            shown = (
                (replace(item, model=labels.get(item.model, item.model)), stored)
                for item, stored in store.records()
            )
            records, unsteady = _steady(shown)
            manifests, lost = store.manifests, tuple(store.lost)
            return cls(
                settings,
                totals.total(),
                manifests,
                records,
                totals,
                lost=lost,
                unverified=store.unverified,
                begun=store.when,
                spent=store.spent,
                elapsed=store.elapsed,
                unsteady=unsteady,
                excess=dict(_excess(store, settings, labels)) if settings.until_decided else {},
                speeds={
                    labels.get(spec, spec): speed for spec, speed in store.speeds(settings.models).items()
                },
            )

    @property
    def models(self) -> tuple[str, ...]:
        """The models, by the names in tables: as the user named them, without the folders of a path."""
        return tuple(map(self.label, self.settings.models))

    def label(self, spec: str) -> str:
        """The name in tables of a model that the user named so."""
        return self._labels.get(spec, spec)

    @cached_property
    def _labels(self) -> dict[str, str]:
        return model_labels(self.settings.models)

    @cached_property
    def left_out(self) -> dict[str, int]:
        """Number of records of functions that could not be probed, by reason, most frequent first."""
        reasons = Counter(stored.record.reason for _, stored in self.records if not stored.record.probed)
        return dict(sorted(reasons.items(), key=lambda counted: (-counted[1], counted[0])))

    def of(self, model: str) -> list[tuple[Item, StoredRecord]]:
        """The records of one model."""
        return [(item, stored) for item, stored in self.records if item.model == model]

    def probed(self, model: str) -> list[Record]:
        """The records of the functions that one model was probed on."""
        return [stored.record for _, stored in self.of(model) if stored.record.probed]

    @property
    def parts(self) -> tuple[RunResults, ...]:
        """The results of each task separately."""
        return tuple(self.only(task) for task in self.settings.tasks)

    def only(self, task: str) -> RunResults:
        """The results of one task.

        Raises:
            DataError: the run has other tasks.
        """
        if task not in self.settings.tasks:
            raise DataError(f"the run is not of the task {task}", f"It is of {self.settings.task}")
        records = tuple((item, stored) for item, stored in self.records if item.task == task)
        total = self.totals.get(task, self.total)
        return replace(self, settings=replace(self.settings, tasks=(task,)), total=total, records=records)

    def tables(self) -> list[Table]:
        """The tables of each task, with the models side by side; then further tables, and the cost."""
        several = len(self.settings.tasks) > 1
        own = [
            replace(table, title=f"{part.settings.task}: {table.title}") if several else table
            for part in self.parts
            for table in _tables(part)
        ]
        return [*own, *self.further, *spending_table(self.settings, self.spent)]


def _excess(
    store: Store, settings: RunSettings, labels: Mapping[str, str]
) -> Iterator[tuple[tuple[str, str], Excess]]:
    """The main figure above chance of each model and task that has one."""
    records = list(store.records())
    for model in settings.models:
        for task in settings.tasks:
            excess = excess_of(settings, model, task, store.items, records)
            if excess is not None:
                yield (labels.get(model, model), task), excess


def _steady(
    records: Iterable[tuple[Item, StoredRecord]],
) -> tuple[tuple[tuple[Item, StoredRecord], ...], dict[tuple[str, str], Proportion]]:
    """The records, none probed of a model in a task in which too many of its answers are unsteady.

    Also the shares of functions with unsteady answers, by model and task.
    """
    groups: dict[tuple[str, str], list[Record]] = {}
    every = list(records)
    for item, stored in every:
        groups.setdefault((item.model, item.task), []).append(stored.record)
    shares, refused = {}, {}
    for key, group in groups.items():
        share = unsteady_share(group)
        if share.count:
            shares[key] = share
        try:
            require_steady(group)
        except UnsteadyModelError as error:
            refused[key] = error
    kept = []
    for item, stored in every:
        refusal = refused.get((item.model, item.task))
        if refusal is not None and stored.record.probed:
            before = stored.record
            record = Record(
                probe=before.probe,
                protocol=before.protocol,
                model=before.model,
                target=before.target,
                function=before.function,
                outcome=Outcome.UNSTEADY,
                reason=refusal.message,
                hint=refusal.hint or "",
            )
            stored = replace(stored, record=record)
        kept.append((item, stored))
    return tuple(kept), shares


def _tables(part: RunResults) -> Iterator[Table]:
    """A table of the probed functions of each model; then the probe's own tables."""
    probed = {model: part.probed(model) for model in part.models}
    yield _functions(part, probed)
    if any(probed.values()):
        task, seed = part.settings.task, part.settings.seed
        protocol = part.settings.options_of(task).chosen_protocol
        yield from under(protocol, PROBES[task].side_by_side(probed, seed=seed))
    yield from _not_counted(probed)


def _functions(part: RunResults, probed: Mapping[str, Sequence[Record]]) -> Table:
    task = part.settings.task
    paired = issubclass(PROBES[task].record, PairsRecord)
    shares = {model: part.unsteady.get((model, task)) for model in probed}
    unsteady = any(shares.values())
    rows: list[tuple[Cell, ...]] = []
    for model, records in probed.items():
        unpaired = sum(isinstance(record, PairsRecord) and not record.pairs for record in records)
        left_out = len(part.of(model)) - len(records)
        share = (shares[model],) if unsteady else ()
        rows.append((model, len(records), *((unpaired,) if paired else ()), left_out, *share))
    without = ("without a pair",) if paired else ()
    columns = ("model", "probed", *without, "left out", *(("not the same twice",) if unsteady else ()))
    note = (
        "not the same twice: functions whose repeated question got another answer, which are left out; no "
        f"figure of a model counts if they are certainly more than {LIMIT:.0%}"
    )
    return Table("functions asked about", columns, tuple(rows), note if unsteady else "")


def _not_counted(probed: Mapping[str, Sequence[Record]]) -> Iterator[Table]:
    """The excluded items of the functions, by the probe's reasons."""
    rows: list[tuple[Cell, ...]] = []
    for model, records in probed.items():
        reasons = Counter[str]()
        for record in records:
            reasons.update(record.left_out)
        ordered = sorted(reasons.items(), key=lambda counted: (-counted[1], counted[0]))
        rows += [(model, count, reason) for reason, count in ordered]
    if rows:
        yield Table("does not count", ("model", "n", "reason"), tuple(rows))


def model_labels(specs: Sequence[str]) -> dict[str, str]:
    """The short name of each model of a run, by the user's name for it; no two are the same.

    Args:
        specs: The models as the user named them, each once.
    """
    depth = 0
    labels = _shorten(specs, depth)
    while len({*labels.values()}) < len(labels) and depth < max(len(PurePath(spec).parts) for spec in specs):
        depth += 1  # models of the same name are told apart by the folders above them
        longer, names = _shorten(specs, depth), list(labels.values())
        labels = {spec: longer[spec] if names.count(label) > 1 else label for spec, label in labels.items()}
    return labels if len({*labels.values()}) == len(labels) else {spec: spec for spec in specs}


def _shorten(specs: Sequence[str], depth: int) -> dict[str, str]:
    """The last parts of paths, at depth 0 without quantization; other names as they are."""
    if depth:
        return {spec: _last_parts(spec, depth) for spec in specs}
    names = ((spec, _QUANTIZED.fullmatch(PurePath(spec).name)) for spec in specs)
    return {spec: name[1] if name else _last_parts(spec, 1) for spec, name in names}


def _last_parts(spec: str, depth: int) -> str:
    exported = spec.startswith((f"{_EXPORT}/", f"{_EXPORT}.", f"{_EXPORT}~"))
    path = spec.removeprefix(_EXPORT) if exported else spec
    if ":" in path.partition("/")[0] or "/" not in path:
        return spec  # remote:NAME, hf:OWNER/REPO/FILE.gguf, a name
    return f"{_EXPORT if exported else ''}{'/'.join(PurePath(path).parts[-depth:])}"
