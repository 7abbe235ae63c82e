"""From records to tables: the same records give the same tables, byte for byte.

Records are taken in the order of the plan, intervals are drawn with the run's seed, and nothing here reads a
clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from counterlens.evaluation.settings import Settings
from counterlens.evaluation.store import PROBED, Item, Record, Store
from counterlens.metrics.effects import Effect, Proportion, wilson
from counterlens.metrics.summary import EffectSummary, Observation, grouped, summarize
from counterlens.probes.execution.prompts import STYLES
from counterlens.probes.task import Cell, Table

_PAIRS_NOTE = (
    "original right: share of the judged pairs whose original was completed right; effect: share of the "
    "informative pairs (either side right) whose verdict changed; signed: below 0 the counterfactual loses "
    "(Hooda et al. 2024, section 4.3)"
)


@dataclass(frozen=True)
class Found:
    """What a run has found so far.

    Attributes:
        settings: Of the run.
        total: Items of the plan.
        manifests: By digest.
        records: In the order of the plan.
    """

    settings: Settings
    total: int
    manifests: Mapping[str, Mapping[str, Any]]
    records: tuple[tuple[Item, Record], ...]

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
            return cls(settings, len(store.items), store.manifests, tuple(store.records()))

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

    def tables(self) -> list[Table]:
        """The tables of the task."""
        return _execution_tables(self) if self.settings.task == "execution" else _pair_tables(self)


def observations(records: Iterable[tuple[Item, Record]]) -> list[Observation]:
    """The pairs of some records, as far as their effects go."""
    return [
        Observation(_effect(pair), pair["mutation"], pair["concept"], item.function, item.problem)
        for item, record in records
        for pair in record.body.get("pairs", ())
    ]


def _effect(pair: Mapping[str, Any]) -> Effect | None:
    before, after = pair["original_right"], pair["counterfactual_right"]
    return None if before is None or after is None else Effect(before, after)


def _pair_tables(found: Found) -> list[Table]:
    seed = found.settings.seed
    seen = {model: observations(found.of(model)) for model in found.models}
    rows: list[tuple[Cell, ...]] = []
    for model, pairs in seen.items():
        records = found.of(model)
        probed = sum(record.outcome == PROBED for _, record in records)
        rows.append((model, probed, len(records) - probed, *_summary(summarize(pairs, seed=seed))))
    columns = ("pairs", "informative", "original right", "effect", "signed", "McNemar p")
    tables = [Table("models", ("model", "functions", "left out", *columns), tuple(rows), _PAIRS_NOTE)]
    for title in ("mutation", "concept"):
        parts = tuple(
            (model, name, *_summary(summary))
            for model, pairs in seen.items()
            for name, summary in sorted(grouped(pairs, _KEYS[title], seed=seed).items())
        )
        tables.append(Table(f"by {title}", ("model", title, *columns), parts))
    return tables


_KEYS = {"mutation": lambda one: one.mutation, "concept": lambda one: one.concept}


def _summary(found: EffectSummary) -> tuple[Cell, ...]:
    signed = None if found.signed is None else f"{found.signed:+.2f}"
    p = None if found.mcnemar is None else f"{found.mcnemar:.3g}"
    return found.pairs, found.average.n, found.original_accuracy, found.average, signed, p


def _execution_tables(found: Found) -> list[Table]:
    rows: list[tuple[Cell, ...]] = []
    for model in found.models:
        records = found.of(model)
        answers = [one for _, record in records for one in record.body.get("answers", ())]
        for style, title in ((name, one.title) for name, one in STYLES.items()):
            asked = [one for one in answers if one["style"] == style]
            unparsable = sum(one["outcome"] == "unparsable" for one in asked)
            rows.append((model, title, len(asked), _right(asked), _typed(asked), unparsable))
    columns = ("model", "asked", "n", "right", "right type", "unparsable")
    note = "independent execution reasoning: what a call gives, compared as values"
    return [Table("models", columns, tuple(rows), note)]


def _right(asked: list[Mapping[str, Any]]) -> Proportion:
    return wilson(sum(one["outcome"] == "right" for one in asked), len(asked))


def _typed(asked: list[Mapping[str, Any]]) -> Proportion:
    return wilson(sum(bool(one["same_type"]) for one in asked), len(asked))
