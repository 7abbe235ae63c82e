"""Helpers for tests of the execution probes: a scripted model, and a run over the functions of a text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, cast

from counterlens.models.base import Capability, Completion, Model, ModelInfo, Prompt
from counterlens.probes.options import make
from counterlens.probes.probe import Context
from counterlens.probes.record import Record, read, write_record
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import ProbeRun, run_targets
from counterlens.probes.subjects import targets_in
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document


class Scripted:
    """A model whose answers are a function of the prompt, for tests of figures."""

    info = ModelInfo("scripted", "scripted", "0", "local", frozenset({Capability.COMPLETE}))

    def __init__(self, answer: Callable[[str], str]) -> None:
        self._answer = answer
        self.asked: list[Prompt] = []

    def offers(self, capability: Capability, **_: Any) -> bool:
        return capability in self.info.capabilities

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        self.asked += prompts
        return [Completion(self._answer(prompt.text), "stop", 1) for prompt in prompts]


def context(answer: Callable[[str], str]) -> Context:
    return Context(cast(Model, Scripted(answer)), best_sandbox)


def probed(probe: str, answer: Callable[[str], str], source: str, **options: Any) -> ProbeRun:
    """Run a probe on all functions of a text."""
    chosen = PROBES[probe]
    targets = targets_in(Document(source))
    return run_targets(chosen, context(answer), targets, make(chosen.options, options))


def documents(run: ProbeRun) -> list[dict[str, Any]]:
    """The records of a run as JSON, each checked to be the same when read back."""
    for record in run.records:
        kind: type[Record] = run.probe.record
        assert read(write_record(record), kind) == record
    return [json.loads(write_record(record)) for record in run.probed]


def entries(run: ProbeRun, key: str) -> list[dict[str, Any]]:
    """The items under a key in the records of a run."""
    return [entry for document in documents(run) for entry in document[key]]


def table(run: ProbeRun, title: str) -> dict[Any, tuple[Any, ...]]:
    (found,) = [one for one in run.tables if one.title == title]
    return {row[0]: row[1:] for row in found.rows}
