"""Repeats one record, and compares the results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from counterlens.errors import DataError
from counterlens.evaluation.damage import damage_error
from counterlens.evaluation.engines.base import open_model
from counterlens.evaluation.manifest import differences, find_out, manifest
from counterlens.evaluation.plan import make_plan
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, Store, StoredRecord
from counterlens.evaluation.work import opened_encoder, perform
from counterlens.probes.record import Record, plain
from counterlens.progress import ProgressCallback
from counterlens.sandbox.base import Sandbox


@dataclass(frozen=True, slots=True)
class Replayed:
    """A record, and the result of repeating it.

    Attributes:
        item: The item.
        before: The stored result.
        now: The new result.
        differences: Their differences, such as `pairs[0].original.verdict: passed, now failed`.
        circumstances: Further differences from the recorded state: versions, model, data.
    """

    item: Item
    before: Record
    now: Record
    differences: tuple[str, ...]
    circumstances: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether the results are the same."""
        return not self.differences


@dataclass(frozen=True, slots=True)
class RecordToReplay:
    """A record of a run.

    Attributes:
        settings: Settings of the run.
        item: The item.
        record: The stored result.
        manifest: Its circumstances.
    """

    settings: RunSettings
    item: Item
    record: Record
    manifest: Mapping[str, Any]


def find_record(folder: Path, name: str) -> RecordToReplay:
    """Find a record of a run.

    Args:
        folder: Folder of the run, which is only read.
        name: Position of the record, its id, or the name of its function if that is unique.

    Raises:
        DataError: there is no such record, or the run cannot be read.
    """
    with Store.open(folder) as store:
        settings, manifests = store.settings, store.manifests
        item, stored = _record(list(store.records()), name, folder)
    if settings is None:  # Store.open has checked
        raise ValueError(folder)
    if item.model not in settings.models or item.task not in settings.tasks:
        raise damage_error(folder, f"{item.id} is not of its settings")
    return RecordToReplay(settings, item, stored.record, manifests[stored.manifest])


def replay(
    stored: RecordToReplay,
    settings: RunSettings,
    sandbox: Sandbox,
    *,
    cancel: Event | None = None,
    progress: ProgressCallback | None = None,
) -> Replayed:
    """Repeat one record of a run; cached responses are ignored.

    Args:
        stored: The record.
        settings: The settings of its run, with the user's consent if the run is foreign.
        sandbox: The sandbox for programs.
        cancel: Set to cancel.
        progress: Called with a description of the current step.

    Raises:
        DataError: the function is no longer in the data.
        ForeignRunError: the run names an address or a repository that the user did not choose.
        ModelError, SandboxError, Cancelled: as `perform`.
    """
    item = stored.item
    plan = make_plan(settings, sandbox, progress)
    if item.problem not in plan.targets[item.task]:
        raise DataError(f"{item.problem} is no longer in {settings.data}", "The data has changed")
    if progress:
        progress(f"asking {item.model} about {item.problem}", 0, 1)
    with open_model(item.model, settings) as model, opened_encoder(settings) as encoder:
        find_out(plan, model)
        now_manifest = manifest(plan, item.model, model.info, encoder)
        target = plan.target(item)
        now = perform(settings, item.task, target, model, sandbox, cancel, encoder=encoder)
    changed = tuple(_differences(plain(stored.record), plain(now)))
    circumstances = tuple(differences(dict(stored.manifest), now_manifest))
    return Replayed(item, stored.record, now, changed, circumstances)


def _record(records: list[tuple[Item, StoredRecord]], name: str, folder: Path) -> tuple[Item, StoredRecord]:
    for key in ("position", "id", "problem", "function"):
        named = [(item, record) for item, record in records if str(getattr(item, key)) == name]
        if len(named) > 1:
            ids = ", ".join(item.id for item, _ in named)
            raise DataError(f"{name} occurs more than once", f"Name one record: {ids}")
        if named:
            return named[0]
    some = ", ".join(item.id for item, _ in records[:3])
    raise DataError(f"the run in {folder} has no record {name}", f"It has {some}, …" if some else None)


def _differences(before: Any, now: Any, at: str = "") -> list[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        keys = sorted({*before, *now})
        return [
            difference
            for key in keys
            for difference in _differences(before.get(key), now.get(key), f"{at}.{key}" if at else key)
        ]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return [difference for i, (a, b) in pairs for difference in _differences(a, b, f"{at}[{i}]")]
    return [] if before == now else [f"{at}: {_short(before)}, now {_short(now)}"]


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"
