"""The prompts and completions of a run, one by one, as other harnesses count them.

Originals of a function with the same cut are one prompt, whatever their number of counterfactuals; each
counterfactual is another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from counterlens.errors import DataError
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.store import Item
from counterlens.metrics.effects import Proportion
from counterlens.metrics.summary import EffectSummary, summarize
from counterlens.probes.pairs.record import PairRecord, PairsRecord, Side, judged_pairs
from counterlens.probes.pairs.tables import observations

ORIGINAL, COUNTERFACTUAL = "original", "counterfactual"
SIDES = (ORIGINAL, COUNTERFACTUAL)
_ALMOST_ALL = 1.959964  # the normal quantile of a 95 % interval


@dataclass(frozen=True, slots=True)
class HarnessSample:
    """One prompt, its completion, and the verdict.

    Attributes:
        id: `PROBLEM:original`, with a number from the second cut on, or `PROBLEM:MUTATION:NUMBER`.
        item: The function and the model.
        which: `original` or `counterfactual`.
        pair: The pair; for an original, the first of its pairs.
        right: Whether it passed; None if it could not be judged.
        effect: For a counterfactual, 1 if its verdict differs from the original's, else 0; None if the pair
            is not informative.
    """

    id: str
    item: Item
    which: str
    pair: PairRecord
    right: bool | None
    effect: int | None = None

    @property
    def side(self) -> Side:
        """The side of the pair."""
        return self.pair.original if self.which == ORIGINAL else self.pair.counterfactual

    @property
    def what(self) -> str:
        """A description of the sample, in a sentence."""
        return "the original" if self.which == ORIGINAL else self.pair.description


@dataclass(frozen=True, slots=True)
class HarnessTask:
    """One model of one task of a run.

    Attributes:
        task: The id of the probe.
        model: The model, as the user named it.
        samples: Its prompts, in the order of the plan.
        summary: The summary of its pairs.
        seconds: Total duration of its functions.
        left_out: Number of functions that could not be probed.
        finished: Whether all functions of the plan are done.
    """

    task: str
    model: str
    samples: tuple[HarnessSample, ...]
    summary: EffectSummary
    seconds: float
    left_out: int
    finished: bool

    def judged(self, which: str) -> tuple[HarnessSample, ...]:
        """The samples of one side that have a verdict."""
        return tuple(sample for sample in self.samples if sample.which == which and sample.right is not None)


def harness_tasks(run: RunResults) -> list[HarnessTask]:
    """Every pair task of a run, for every model.

    Raises:
        DataError: the run has no completions of pairs.
    """
    tasks = [_task(part, model) for part in run.parts for model in run.models]
    asked = [task for task in tasks if task.samples]
    if not asked:
        raise DataError(
            f"the run of {run.settings.task} has no completions of originals and counterfactuals",
            "Other harnesses read runs of completion and repair; --format parquet exports every run",
        )
    return asked


def file_name(model: str) -> str:
    """A model's name as part of a file name."""
    return re.sub(r"[^\w.+-]+", "_", model).strip("_") or "model"


def standard_error(share: Proportion) -> float | None:
    """The standard error from the 95 % interval of a share; None if there is no interval."""
    if share.low is None or share.high is None:
        return None
    return (share.high - share.low) / (2 * _ALMOST_ALL)


def _task(part: RunResults, model: str) -> HarnessTask:
    records = part.of(model)
    pairs = [
        stored.record
        for _, stored in records
        if isinstance(stored.record, PairsRecord) and judged_pairs(stored.record)
    ]
    return HarnessTask(
        part.settings.task,
        model,
        tuple(sample for item, stored in records for sample in _samples(item, judged_pairs(stored.record))),
        summarize(observations(pairs)),
        sum(stored.seconds for _, stored in records),
        sum(not stored.record.probed for _, stored in records),
        len(part.records) == part.total,
    )


def _samples(item: Item, pairs: Sequence[PairRecord]) -> Iterator[HarnessSample]:
    seen: dict[tuple[str, str | None], None] = {}
    for number, pair in enumerate(pairs):
        asked = (pair.original.prompt, pair.original.completion)
        if asked not in seen:
            seen[asked] = None
            more = f":{len(seen)}" if len(seen) > 1 else ""
            yield HarnessSample(f"{item.problem}:{ORIGINAL}{more}", item, ORIGINAL, pair, pair.original_right)
        effect = pair.effect.mutation_effect if pair.effect and pair.effect.informative else None
        right = pair.counterfactual_right
        name = f"{item.problem}:{pair.mutation}:{number}"
        yield HarnessSample(name, item, COUNTERFACTUAL, pair, right, effect)
