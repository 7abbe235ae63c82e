"""Probes that have yet to be written by the contract, behind it. Goes away with the last of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from counterlens.attribution.base import lasting
from counterlens.metrics.table import Table
from counterlens.models.base import Model
from counterlens.probes.options import (
    DEFAULT_TIMEOUT,
    MAX_TOKENS,
    Corpus,
    Encoder,
    MaxTokens,
    ProbeOptions,
    Timeout,
    option,
)
from counterlens.probes.probe import Context, Probe, Source, Target
from counterlens.probes.record import Record
from counterlens.probes.task import Request, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyRecord(Record):
    body: Mapping[str, Any] = field(default_factory=dict)
    told: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyOptions(ProbeOptions):
    timeout: Timeout = DEFAULT_TIMEOUT
    max_tokens: MaxTokens = MAX_TOKENS
    corpus: Corpus = None
    encoder: Encoder = None
    code: Annotated[
        str, option("Programs asked about.", choices=("given", "buggy", "written"), setting="probe.code")
    ] = "given"
    method: Annotated[str | None, option("How dependences are found out.")] = None
    windows: Annotated[bool, option("Also with less context.")] = False
    unroll: Annotated[bool, option("Also with loops unrolled.")] = False


class LegacyProbe(Probe[LegacyOptions, LegacyRecord]):
    options = LegacyOptions
    record = LegacyRecord

    def __init__(self, task: Task) -> None:
        self._task = task
        self.id, self.title, self.needs = task.id, task.title, task.needs  # type: ignore[misc]
        self.source = Source("ours")  # type: ignore[misc]

    def run(self, context: Context, target: Target, options: LegacyOptions) -> LegacyRecord:
        found = self._task.run(self._request(context.model, target, options, context))
        return LegacyRecord(left_out=found.left_out, body=found.data, told=found.summary)

    def tables(self, records: Sequence[LegacyRecord], *, seed: int) -> tuple[Table, ...]:
        return self._task.tables([record.body for record in records], seed=seed)

    def summary(self, records: Sequence[LegacyRecord]) -> str:
        return " ".join(record.told for record in records[:3])

    def measures(self, record: LegacyRecord) -> Mapping[str, bool]:
        return self._task.measures(record.body)

    def estimate(self, target: Target, options: LegacyOptions, model: Model) -> int:
        return self._task.asks(self._request(model, target, options, Context(model)))

    def _request(self, model: Model, target: Target, options: LegacyOptions, context: Context) -> Request:
        given = {f.name: getattr(options, f.name) for f in dataclasses.fields(options)}
        given["limits"] = lasting(given.pop("timeout"))
        given["encoder"] = context.encoder
        return Request(
            model, (target,), context.sandbox, cancel=context.cancel, report=context.steps.progress, **given
        )
