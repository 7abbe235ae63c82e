"""The processing of one item of a plan, up to its record; and its repetition, whose results are compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

from counterlens.errors import DataError
from counterlens.evaluation.damage import damage_error
from counterlens.evaluation.engines.base import open_model
from counterlens.evaluation.manifest import differences, find_out, manifest
from counterlens.evaluation.plan import make_plan
from counterlens.evaluation.run_consent import require_consent
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, Store, StoredRecord
from counterlens.models.base import Model
from counterlens.models.cache import AnswerStore
from counterlens.models.opening import open_cached
from counterlens.models.registry import Options, load
from counterlens.models.sentences import ModelSentences, SentenceEncoder
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import Record, plain
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import run_probe
from counterlens.progress import ProgressCallback, Steps
from counterlens.sandbox.base import Sandbox


def perform(
    settings: RunSettings,
    task: str,
    target: Target,
    model: Model,
    sandbox: Sandbox,
    cancel: Event | None = None,
    *,
    encoder: SentenceEncoder | None = None,
    progress: ProgressCallback | None = None,
) -> Record:
    """Probe one function with the settings of a run.

    Args:
        task: The id of the probe.
        sandbox: The sandbox for programs.
        encoder: The encoder for sentence similarity.
        progress: Called with each step.

    Raises:
        ModelError, SandboxError: the model or the sandbox failed, which shows nothing about the function.
        Cancelled: `cancel` was set.
    """
    steps = Steps(cancel, progress)
    context = Context(model, lambda: sandbox, steps, encoder, vetted=True, surveyed=True)
    return run_probe(PROBES[task], context, target, settings.options_of(task))


@contextmanager
def opened_encoder(
    settings: RunSettings, answers: AnswerStore | None = None
) -> Iterator[ModelSentences | None]:
    """The encoder of a run; None if the built-in one is used.

    It runs on the machine of the process that was started, whatever the engine: it reads single sentences.

    Args:
        answers: The cache of its vectors; None for no cache.

    Raises:
        ModelError: the encoder cannot be opened, or returns no embeddings.
        ForeignRunError: the run came from somebody else, and the user did not choose where texts would go.
    """
    if settings.encoder is None:
        yield None
        return
    require_consent(settings, [settings.encoder])
    options = replace(Options.of(settings), api=None, mask="word", exact=False, thinking_tokens=None)
    with (
        load(settings.encoder, options)
        if answers is None
        else open_cached(settings.encoder, options, store=answers)
    ) as model:
        yield ModelSentences(model)


@dataclass(frozen=True, slots=True)
class Replayed:
    """A record, and the result of repeating it.

    Attributes:
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
        settings: The settings of its run, with the user's consent if the run is foreign.
        sandbox: The sandbox for programs.
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
