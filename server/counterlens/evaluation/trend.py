"""The trend of a repository's figures from run to run, in chronological order.

A trend is over the code, so the commit and the hash of the sources may differ between two runs. The later run
is not connected with the earlier one if anything else differs on which figures depend, such as the model, an
option or the test files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from counterlens.datasets.repository import PREFIX
from counterlens.errors import DataError
from counterlens.evaluation.comparison import BESIDE, differing, manifest_of
from counterlens.evaluation.effects import judged_parts, observations_of
from counterlens.evaluation.results import RunResults
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.significance import shift
from counterlens.metrics.summary import EffectSummary, Observation, originals, summarize

_PARTS = (*BESIDE, "model", "encoder", "parameters", "options")
_THE_CODE = ("dataset.sha256:", "dataset.records:")
"""Parts of the manifest about a repository's code, which may differ, as may its commit and its folder."""


@dataclass(frozen=True, slots=True)
class TrendRun:
    """One of the runs.

    Attributes:
        name: Its name, such as its folder.
        begun: When it began, in UTC; None if unknown.
        version: Version of its data, such as the commit; empty if there are no records yet.
        unfinished: Number of items of its plan without a record.
    """

    name: str
    begun: str | None
    version: str
    unfinished: int = 0


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """The figures of a model in one run.

    Attributes:
        summary: Summary of the pairs.
        apart: Why it is not connected with the point before; empty if it is, and for the first one.
        effect: Change of the average mutation effect since the point before, over functions; None if it is
            not connected.
        right: The same for the share of originals that were completed correctly.
    """

    run: TrendRun
    summary: EffectSummary
    apart: tuple[str, ...] = ()
    effect: Estimate | None = None
    right: Estimate | None = None

    @property
    def informative(self) -> int:
        """Number of pairs with a right verdict on at least one side."""
        return self.summary.pairs - self.summary.unjudged - self.summary.uninformative

    @property
    def connected(self) -> bool:
        """Whether it is connected with the point before."""
        return self.effect is not None


@dataclass(frozen=True, slots=True)
class TrendLine:
    """One model of one task.

    Attributes:
        points: Points of the runs with the model, in chronological order.
    """

    task: str
    model: str
    points: tuple[TrendPoint, ...]


@dataclass(frozen=True, slots=True)
class Trend:
    """Several runs.

    Attributes:
        runs: The runs, in chronological order.
        lines: Lines for every task and model.
        ordered: Whether the time of all runs is known; if not, they are in the order in which they were
            named.
        across: Parts that may differ besides the code.
    """

    runs: tuple[TrendRun, ...]
    lines: tuple[TrendLine, ...]
    ordered: bool
    across: tuple[str, ...] = ()


def trend(runs: Sequence[tuple[str, RunResults]], across: Sequence[str] = ()) -> Trend:
    """Arrange runs on the same code in chronological order.

    Args:
        runs: Name and results of each run.
        across: Parts of manifests that may differ, such as `judged_by.tests` or `packages`.

    Raises:
        DataError: fewer than two runs, or none has judged pairs.
    """
    if len(runs) < 2:
        raise DataError("a trend needs at least two runs", "Name their folders")
    ordered = all(results.begun for _, results in runs)
    if ordered:
        runs = sorted(runs, key=lambda named: named[1].begun or "")
    known = [(_run(name, results), results) for name, results in runs]
    keys = dict.fromkeys(
        (part.settings.task, model)
        for _, results in known
        for part in judged_parts(results)
        for model in part.models
        if part.probed(model)
    )
    if not keys:
        raise DataError("no run has judged pairs", "Runs of completion or repair have them")
    passed_over = [f"{part.rstrip('.')}{end}" for part in across for end in ".:"]
    lines = tuple(TrendLine(*key, _points(known, *key, passed_over)) for key in keys)
    return Trend(tuple(run for run, _ in known), lines, ordered, tuple(across))


def _run(name: str, results: RunResults) -> TrendRun:
    datasets = (manifest.get("dataset", {}) for manifest in results.manifests.values())
    version = next((str(dataset["version"]) for dataset in datasets if "version" in dataset), "")
    return TrendRun(name, results.begun, version, results.total - len(results.records))


def _points(
    runs: Sequence[tuple[TrendRun, RunResults]], task: str, model: str, passed_over: Sequence[str]
) -> tuple[TrendPoint, ...]:
    points: list[TrendPoint] = []
    before: tuple[RunResults, Sequence[Observation]] | None = None
    for run, results in runs:
        if task not in results.settings.tasks or model not in results.models:
            continue
        pairs = observations_of(results.only(task))[model]
        summary = summarize(pairs)
        if before is None:
            points.append(TrendPoint(run, summary))
        elif apart := _why_not_comparable(before[0], results, task, model, passed_over):
            points.append(TrendPoint(run, summary, apart))
        else:
            effect = shift(_verdict_changes(before[1]), _verdict_changes(pairs), seed=results.settings.seed)
            right = shift(originals(before[1]), originals(pairs), seed=results.settings.seed)
            points.append(TrendPoint(run, summary, (), effect, right))
        before = results, pairs
    return tuple(points)


def _why_not_comparable(
    first: RunResults, second: RunResults, task: str, model: str, passed_over: Sequence[str]
) -> tuple[str, ...]:
    """Why two runs are not comparable."""
    manifests = manifest_of(first, model), manifest_of(second, model)
    both = [
        {**manifest, "options": manifest.get("options", {}).get(task)}
        for manifest in manifests
        if manifest is not None
    ]
    if len(both) < len(manifests):
        return ("one of them has no results yet",)
    of_code = first.settings.data.startswith(PREFIX) and second.settings.data.startswith(PREFIX)
    allowed = (*passed_over, *(_THE_CODE if of_code else ()))
    unfinished = any(len(run.records) < run.total and run.settings.minutes is None for run in (first, second))
    differences = differing([(both[0], both[1])], _PARTS, allowed)
    return (*differences, *(["one of them is not finished"] if unfinished else []))


def _verdict_changes(pairs: Sequence[Observation]) -> list[tuple[tuple[str, str], bool]]:
    """The informative pairs: the function of each, and whether its verdict changed."""
    return [
        (pair.cluster, pair.effect.mutation_effect == 1)
        for pair in pairs
        if pair.effect is not None and pair.effect.informative
    ]
