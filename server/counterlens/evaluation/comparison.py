"""Two sets of records side by side, function by function: McNemar's test of verdicts, Wilcoxon's of scores.

The unit is a function, not a pair: the pairs of one function are correlated, and the tests assume independent
units. Only functions count that both sides could probe, from the same source. All tests of one comparison are
a family, so each p is shown with its adjustment by Holm's method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

from counterlens.errors import CounterlensError, DataError
from counterlens.evaluation.choice import ModelChoice, model_choice
from counterlens.evaluation.manifest import differences
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.metrics.bootstrap import mean
from counterlens.metrics.significance import SignedRank, holm, signed_rank
from counterlens.metrics.summary import Observation, mcnemar_exact, summarize
from counterlens.probes.confidence import ConfidenceRecord
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.tables import observations
from counterlens.probes.record import Record
from counterlens.probes.registry import PROBES

BESIDE = ("counterlens", "python", "platform", "packages", "sandbox", "judged_by", "dataset")
"""Parts of a manifest that are not settings, but may affect a verdict."""
_NAMED, _READABLE = 5, 60
_CROSS_ENTROPY = "cross-entropy"


def differing(
    pairs: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]],
    parts: Sequence[str],
    passed_over: Sequence[str] = (),
) -> list[str]:
    """Some differences of manifests, such as `python: 3.11.2, now 3.12.1`, without long values.

    Args:
        pairs: Manifests side by side.
        parts: Keys to compare.
        passed_over: Prefixes of nested keys, such as `dataset.sha256`, that may differ.
    """
    changes = dict.fromkeys(
        difference
        for before, after in pairs
        for difference in differences(_only(before, parts), _only(after, parts))
        if not difference.startswith(tuple(passed_over))
    )
    named = [where if len(rest) > _READABLE else f"{where}: {rest}" for where, rest in map(_part, changes)]
    more = [f"{len(named) - _NAMED} circumstances more"] if len(named) > _NAMED else []
    return [*named[:_NAMED], *more]


def _only(manifest: Mapping[str, Any], parts: Sequence[str]) -> dict[str, Any]:
    return {key: manifest.get(key) for key in parts}


def _part(difference: str) -> tuple[str, str]:
    where, _, rest = difference.partition(": ")
    return where, rest


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure on both sides.

    Attributes:
        name: The property of a function.
        n: Number of functions that both sides measured.
        first: Number with the property on the first side.
        second: Number with the property on the second side.
        lost: Functions with the property on the first side only.
        gained: Functions with the property on the second side only.
        p: p value of McNemar's exact test; None if nothing changed.
        holm: The same, adjusted for all tests of the comparison.
    """

    name: str
    n: int
    first: int
    second: int
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    p: float | None
    holm: float | None = None


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """One figure on both sides, tested by the scores of functions.

    Attributes:
        name: The figure.
        n: Number of functions with a score on both sides, which are tested.
        different: Number of functions with different scores.
        first: The figure of all compared functions on the first side; None if there is none.
        second: The same for the second side.
        p: p value of Wilcoxon's signed-rank test; None if no score differs, or SciPy is not installed.
        holm: The same, adjusted for all tests of the comparison.
    """

    name: str
    n: int
    different: int
    first: float | None
    second: float | None
    p: float | None
    holm: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides.

    Attributes:
        first: Name of the first side.
        second: Name of the second side.
        measures: Each property that a function has or lacks.
        scores: Each score of a function.
        changed: Functions whose source differs; they do not count.
        only: Number of functions that only one side probed.
        notes: Further differences between them, such as a parameter.
        which: Which side is right more often; None without judged pairs.
    """

    first: str
    second: str
    measures: tuple[Measure, ...]
    changed: tuple[str, ...]
    only: int
    notes: tuple[str, ...] = ()
    scores: tuple[ScoreComparison, ...] = ()
    which: ModelChoice | None = None


def compare_runs(first: RunResults, second: RunResults, names: tuple[str, str]) -> list[Comparison]:
    """Compare each task and model that both runs have; if each run has one model, compare these two.

    Raises:
        DataError: the runs have no task or no model in common.
    """
    tasks = [task for task in first.settings.tasks if task in second.settings.tasks]
    if not tasks:
        raise DataError(
            f"one run is of the task {first.settings.task}, the other of {second.settings.task}",
            "Compare runs of one task",
        )
    both = [model for model in first.models if model in second.models]
    pairs = [(model, model) for model in both]
    if not both and len(first.models) == len(second.models) == 1:
        pairs = [(first.models[0], second.models[0])]
    if not pairs:
        raise DataError(
            "the runs have no model in common",
            f"One used {', '.join(first.models)}, the other {', '.join(second.models)}",
        )
    skipped = ("tasks is", "models is", "limit is", "threads is")
    notes = tuple(
        f"{names[0]}: {difference} as in {names[1]}"
        for difference in first.settings.differences(second.settings)
        if not difference.startswith(skipped)
    )
    notes += _circumstances(first, second)
    several = {*first.settings.tasks, *second.settings.tasks} != {tasks[0]}
    return _adjust(
        [
            compare(first.only(task).of(a), second.only(task).of(b), sides, notes)
            for task in tasks
            for a, b in pairs
            for sides in [_titles(f"{names[0]} {a}", f"{names[1]} {b}", task if several else "")]
        ]
    )


def _circumstances(first: RunResults, second: RunResults) -> tuple[str, ...]:
    """Some differences of two runs besides their settings, such as the test files of the verdicts."""
    differences = differing(product(first.manifests.values(), second.manifests.values()), BESIDE)
    return tuple(f"The runs differ in {difference}" for difference in differences)


def compare_models(run: RunResults) -> list[Comparison]:
    """Compare every two models in each task of one run.

    Raises:
        DataError: the run has only one model.
    """
    if len(run.models) < 2:
        raise DataError(
            f"the run used only one model, {run.models[0]}",
            "Give a second run, or use several models in one run: bench --model A --model B",
        )
    several, pairs = len(run.settings.tasks) > 1, [*combinations(run.models, 2)]
    return _adjust(
        [
            compare(
                part.of(a),
                part.of(b),
                _titles(a, b, part.settings.task if several else ""),
                family=len(pairs),
            )
            for part in run.parts
            for a, b in pairs
        ]
    )


def _titles(first: str, second: str, task: str) -> tuple[str, str]:
    return (f"{first} {task}", f"{second} {task}") if task else (first, second)


def compare(
    first: Iterable[tuple[Item, StoredRecord]],
    second: Iterable[tuple[Item, StoredRecord]],
    names: tuple[str, str],
    notes: tuple[str, ...] = (),
    *,
    family: int = 1,
) -> Comparison:
    """Compare two sets of records, matched by the names of their functions.

    Args:
        notes: Further differences between them.
        family: Number of comparisons that are read together.
    """
    before, after = _probed_records(first), _probed_records(second)
    common = [name for name in before if name in after]
    changed = [name for name in common if before[name][0].source != after[name][0].source]
    same = [name for name in common if name not in set(changed)]
    sides = [
        {name: PROBES[side[name][0].task].measures(side[name][1]) for name in same}
        for side in (before, after)
    ]
    measures = dict.fromkeys(measure for name in same for measure in sides[0][name])
    scores, missing = _scores([(before[name][1], after[name][1]) for name in same])
    result = Comparison(
        first=names[0],
        second=names[1],
        measures=tuple(_measure(measure, *sides) for measure in measures),
        changed=tuple(changed),
        only=len({*before} ^ {*after}),
        notes=(*notes, *missing),
        scores=scores,
        which=_which(names, [[side[name][1] for name in same] for side in (before, after)], family),
    )
    return _adjust([result])[0]


def _which(names: tuple[str, str], sides: Sequence[Sequence[Record]], family: int) -> ModelChoice | None:
    """Which side is right more often; None without judged pairs."""
    pairs = {
        name: observations([record for record in records if isinstance(record, PairsRecord)])
        for name, records in zip(names, sides, strict=True)
    }
    judged = any(pair.effect for some in pairs.values() for pair in some)
    return model_choice(pairs, family=family) if judged and len(pairs) == len(sides) else None


def _probed_records(records: Iterable[tuple[Item, StoredRecord]]) -> dict[str, tuple[Item, Record]]:
    return {item.problem: (item, stored.record) for item, stored in records if stored.record.probed}


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure of a side, as its reports give it, and the score of each function by which it is tested.

    Attributes:
        whole: The figure of some records; None if they have none.
        score: The score of a function's record; None if there is nothing to score.
    """

    whole: Callable[[Sequence[Record]], float | None]
    score: Callable[[Record], float | None]


def _of_pairs(figure: Callable[[Sequence[Observation]], float | None]) -> _Figure:
    """A figure of pairs; a function's score is the same figure of its own pairs."""

    def whole(records: Sequence[Record]) -> float | None:
        paired = [record for record in records if isinstance(record, PairsRecord)]
        return figure([observation for record in paired for observation in record.observations])

    return _Figure(whole, lambda record: whole([record]))


def _of_confidence(
    figure: Callable[[Sequence[ConfidenceRecord]], float | None],
) -> _Figure:
    """A figure of scored functions, in the confidence task."""

    def whole(records: Sequence[Record]) -> float | None:
        scored = [record for record in records if isinstance(record, ConfidenceRecord)]
        return figure(scored) if scored else None

    return _Figure(whole, lambda record: whole([record]))


FIGURES: dict[str, _Figure] = {
    "originals right": _of_pairs(lambda pairs: summarize(pairs).original_accuracy.value),
    "counterfactuals right": _of_pairs(
        lambda pairs: mean(pair.effect.counterfactual for pair in pairs if pair.effect is not None)
    ),
    "average mutation effect": _of_pairs(lambda pairs: summarize(pairs).average.value),
    _CROSS_ENTROPY: _of_confidence(lambda records: mean(record.cross_entropy for record in records)),
    "bits per byte": _of_confidence(
        lambda records: sum(record.bits for record in records) / sum(record.bytes for record in records)
    ),
}
"""The figures that are compared, by name: each has one definition, the one of reports."""


def _scores(
    records: Sequence[tuple[Record, Record]],
) -> tuple[tuple[ScoreComparison, ...], tuple[str, ...]]:
    """The figures for which some function has a score on both sides; and why they are not tested, if so."""
    comparisons, missing = [], dict[str, None]()
    for name, figure in FIGURES.items():
        if name == _CROSS_ENTROPY and any(_tokens(first) != _tokens(second) for first, second in records):
            missing[f"{name} is per token, and the two have different tokenizers: see bits per byte"] = None
            continue
        both = [(figure.score(first), figure.score(second)) for first, second in records]
        pairs = [(a, b) for a, b in both if a is not None and b is not None]
        if not pairs:
            continue
        try:
            tested = signed_rank(pairs)
        except CounterlensError as error:
            tested = SignedRank(len(pairs), sum(a != b for a, b in pairs), None, None)
            missing[f"{error.message}: {error.hint}"] = None
        first, second = (figure.whole(side) for side in zip(*records, strict=True))
        comparisons.append(ScoreComparison(name, tested.n, tested.different, first, second, tested.p))
    return tuple(comparisons), tuple(missing)


def _tokens(record: Record) -> int | None:
    return record.tokens if isinstance(record, ConfidenceRecord) else None


def on_common_functions(runs: Mapping[str, RunResults]) -> dict[str, RunResults]:
    """Some runs with the records of those functions alone that every model of each could be probed on.

    A model without any probed function does not count.

    Args:
        runs: The runs by their names.
    """
    common: dict[str, set[tuple[str, str]]] = {}
    for run in runs.values():
        for part, model in product(run.parts, run.models):
            sources = {(item.problem, item.source) for item, stored in part.of(model) if stored.record.probed}
            if sources:
                task = part.settings.task
                common[task] = common.get(task, sources) & sources
    return {
        name: replace(
            run,
            records=tuple(
                (item, stored)
                for item, stored in run.records
                if (item.problem, item.source) in common.get(item.task, ())
            ),
        )
        for name, run in runs.items()
    }


def _adjust(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with the p values of all their tests adjusted together."""
    tests: list[Measure | ScoreComparison] = []
    for comparison in comparisons:
        tests += [*comparison.measures, *comparison.scores]
    values = iter(holm([test.p for test in tests]))
    return [
        replace(
            entry,
            measures=tuple(replace(test, holm=next(values)) for test in entry.measures),
            scores=tuple(replace(test, holm=next(values)) for test in entry.scores),
        )
        for entry in comparisons
    ]


def _measure(
    name: str, first: Mapping[str, Mapping[str, bool]], second: Mapping[str, Mapping[str, bool]]
) -> Measure:
    both = [
        (function, first[function][name], second[function][name])
        for function in first
        if name in first[function] and name in second[function]
    ]
    lost = tuple(function for function, before, after in both if before and not after)
    gained = tuple(function for function, before, after in both if after and not before)
    return Measure(
        name=name,
        n=len(both),
        first=sum(before for _, before, _ in both),
        second=sum(after for _, _, after in both),
        lost=lost,
        gained=gained,
        p=mcnemar_exact(len(lost), len(gained)),
    )
