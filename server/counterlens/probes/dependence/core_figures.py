"""The figures of CoRe's tables (Xie et al. 2025), as its evaluation defines them, each beside the rule's.

For yes-or-no questions: accuracy, and precision, recall and F1 of yes, pooled over all questions. For traces,
over the questions whose true answer is yes: the share with at least one step and no wrong one, and the means
of the share of right steps, the share of false steps, and the number of missing nodes; an empty trace has no
right step. For sources, means over the questions: exact match, precision, recall and F1. An unreadable answer
counts as no, or as no source. Precision is 1 if nothing is named, and recall is 1 if nothing is true. A
yes-or-no figure without a denominator is 0.

CoRe gives no intervals. Ours are bootstraps over functions, because the questions of one function are
correlated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from counterlens.counting import plural
from counterlens.datasets.core import CoreTask
from counterlens.metrics.bootstrap import Estimate, bootstrap
from counterlens.metrics.table import Cell, Table
from counterlens.probes.dependence.core_answers import CoreAnswer
from counterlens.probes.dependence.core_form import CoreForm

_SOURCES = "source questions"
_RULES = {
    CoreTask.DATA: "recurring names",
    CoreTask.CONTROL: "indentation",
    CoreTask.FLOW: "both",
}


@dataclass(frozen=True, slots=True)
class YesSums:
    """Counts and sums over yes-or-no questions."""

    asked: float = 0
    true: float = 0
    said: float = 0
    both: float = 0
    correct: float = 0
    unread: float = 0
    ruled: float = 0
    rule_both: float = 0
    differing_said: float = 0
    differing_true: float = 0
    differing_both: float = 0
    traced: float = 0
    steps_right: float = 0
    steps_false: float = 0
    left_out: float = 0

    @classmethod
    def of(cls, answer: CoreAnswer) -> YesSums:
        """The figures of one answer."""
        differs = answer.true != answer.ruled
        traced = answer.true and answer.steps > 0
        return cls(
            asked=1,
            true=answer.true,
            said=answer.said,
            both=answer.said and answer.true,
            correct=answer.said == answer.true,
            unread=not answer.read,
            ruled=answer.ruled,
            rule_both=answer.ruled and answer.true,
            differing_said=differs and answer.said,
            differing_true=differs and answer.true,
            differing_both=differs and answer.said and answer.true,
            traced=traced and answer.right == answer.steps,
            steps_right=answer.right / answer.steps if traced else 0.0,
            steps_false=answer.false / answer.steps if traced else 0.0,
            left_out=answer.left_out if traced else 0.0,
        )


@dataclass(frozen=True, slots=True)
class SourceSums:
    """Counts and sums over questions for sources."""

    asked: float = 0
    exact: float = 0
    precision: float = 0
    recall: float = 0
    f1: float = 0
    unread: float = 0
    rule_exact: float = 0
    rule_f1: float = 0

    @classmethod
    def of(cls, answer: CoreAnswer) -> SourceSums:
        """The figures of one answer."""
        precision, recall, f1 = of_sets(answer.said_sources, answer.sources)
        return cls(
            asked=1,
            exact=set(answer.said_sources) == set(answer.sources),
            precision=precision,
            recall=recall,
            f1=f1,
            unread=not answer.read,
            rule_exact=set(answer.ruled_sources) == set(answer.sources),
            rule_f1=of_sets(answer.ruled_sources, answer.sources)[2],
        )


def of_sets(answered: Iterable[str], true: Iterable[str]) -> tuple[float, float, float]:
    """Precision, recall and F1 of a set against another one; for empty sets as in CoRe."""
    answered, true = set(answered), set(true)
    precision = len(answered & true) / len(answered) if answered else 1.0
    recall = len(answered & true) / len(true) if true else 1.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def core_tables(functions: Sequence[Sequence[CoreAnswer]], seed: int) -> tuple[Table, ...]:
    """The figures over the answers about some functions.

    Args:
        seed: Random seed of intervals.
    """
    of_yes = _by_task(functions, CoreForm.TRACE)
    of_sources = _by_task(functions, CoreForm.SOURCE)
    drawn = []
    if of_yes:
        drawn = [_yes_table(of_yes, seed), _rule_table(of_yes, seed), _trace_table(of_yes, seed)]
    if of_sources:
        drawn.append(_source_table(of_sources, seed))
    return tuple(_with_note(table, functions) for table in drawn)


_Functions = Sequence[Sequence[CoreAnswer]]
SumsT = TypeVar("SumsT", YesSums, SourceSums)


def _by_task(functions: _Functions, form: CoreForm) -> dict[str, _Functions]:
    """The answers to questions of one form, by task and all together."""
    by_task: dict[str, _Functions] = {}
    for task in (*CoreTask, None):
        answers = [
            [answer for answer in function if answer.form is form and task in {answer.task, None}]
            for function in functions
        ]
        if any(answers):
            by_task["all tasks" if task is None else task.words] = [group for group in answers if group]
    return by_task


def _yes_table(tasks: Mapping[str, _Functions], seed: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, functions in tasks.items():
        sums, total = _sums(functions, YesSums)
        rows.append(
            (
                name,
                int(total.asked),
                int(total.true),
                sums.estimate(lambda counts: counts.correct / counts.asked, seed),
                sums.estimate(lambda counts: _ratio(counts.both, counts.said), seed),
                sums.estimate(lambda counts: _ratio(counts.both, counts.true), seed),
                sums.estimate(_f1, seed),
                sums.estimate(_rule_f1, seed),
                int(total.unread),
            )
        )
    columns = ("questions", "answer is yes", "accuracy", "precision", "recall", "F1")
    return Table("pairwise questions", ("", *columns, "rule's F1", "unreadable"), tuple(rows))


def _rule_table(tasks: Mapping[str, _Functions], seed: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, functions in tasks.items():
        sums, total = _sums(functions, YesSums)
        wrong = int(total.ruled + total.true - 2 * total.rule_both)
        rows.append(
            (
                name,
                sums.estimate(_f1, seed),
                sums.estimate(_rule_f1, seed),
                sums.estimate(lambda counts: _f1(counts) - _rule_f1(counts), seed),
                wrong,
                sums.estimate(_differing_f1, seed),
            )
        )
    return Table(
        "compared with rules without a model",
        ("", "F1", "rule's F1", "difference", "rule wrong", "F1 if rule wrong"),
        tuple(rows),
        "Rules without a model: recurring names for data, indentation for control, both for information "
        "flow, over any number of steps. On pairs where the rule is wrong, its own F1 is 0.",
    )


def _trace_table(tasks: Mapping[str, _Functions], seed: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, functions in tasks.items():
        sums, total = _sums(functions, YesSums)
        figures = ("traced", "steps_right", "steps_false", "left_out")
        rows.append(
            (name, int(total.true), *(sums.estimate(partial(_of_true, each), seed) for each in figures))
        )
    columns = ("questions", "correct trace rate", "trace precision", "false edge rate", "missing nodes")
    return Table("traces of questions answered by yes", ("", *columns), tuple(rows))


def _source_table(tasks: Mapping[str, _Functions], seed: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, functions in tasks.items():
        sums, total = _sums(functions, SourceSums)
        figures = ("exact", "precision", "recall", "f1", "rule_exact", "rule_f1")
        means = [sums.estimate(partial(_mean, figure), seed) for figure in figures]
        rows.append((name, int(total.asked), *means, int(total.unread)))
    columns = ("questions", "exact match", "precision", "recall", "F1")
    beside = ("rule's exact match", "rule's F1", "unreadable")
    return Table(_SOURCES, ("", *columns, *beside), tuple(rows), "Means over questions.")


def _with_note(table: Table, functions: _Functions) -> Table:
    """A table with a note on the source of the questions and of the truth."""
    answers = [answer for function in functions for answer in function]
    form = CoreForm.SOURCE if table.title == _SOURCES else CoreForm.TRACE
    shown = [answer for answer in answers if answer.form is form]
    own, lite = sum(answer.own_words for answer in shown), sum(answer.lite for answer in shown)
    labelled = sum(answer.labelled for answer in shown)
    said = (
        f"{plural(len(functions), 'function')}; CoRe's own questions, in its wording: {own} of {len(shown)}; "
        f"of CoRe Lite: {lite}; judged by human labels: {labelled}, the others by the dependence graph. "
        "Intervals: functions resampled."
    )
    return Table(table.title, table.columns, table.rows, f"{table.note} {said}".strip())


def _sums(functions: _Functions, kind: type[SumsT]) -> tuple[_Sums[SumsT], SumsT]:
    """The sums of each function, and the total."""
    names = [field.name for field in fields(kind)]
    rows = [
        np.array([[getattr(sums, name) for name in names] for sums in map(kind.of, function)], float).sum(
            axis=0
        )
        for function in functions
    ]
    return _Sums(kind, rows), kind(*np.sum(rows, axis=0).tolist())


@dataclass(frozen=True, slots=True, eq=False)
class _Sums(Generic[SumsT]):
    """The sums of each function as rows, with a column per field of the sums."""

    kind: type[SumsT]
    rows: Sequence[npt.NDArray[np.float64]]

    def estimate(self, figure: Callable[[SumsT], float | None], seed: int) -> Estimate:
        """A figure of the sums over all functions, with its interval."""
        return bootstrap(
            self.rows, lambda drawn: figure(self.kind(*np.sum(drawn, axis=0).tolist())), seed=seed
        )


def _mean(figure: str, sums: SourceSums) -> float:
    return float(getattr(sums, figure)) / sums.asked


def _of_true(figure: str, sums: YesSums) -> float | None:
    return float(getattr(sums, figure)) / sums.true if sums.true else None


def _f1(sums: YesSums) -> float:
    return _ratio(2 * sums.both, sums.said + sums.true)


def _rule_f1(sums: YesSums) -> float:
    return _ratio(2 * sums.rule_both, sums.ruled + sums.true)


def _differing_f1(sums: YesSums) -> float | None:
    either = sums.differing_said + sums.differing_true
    return 2 * sums.differing_both / either if either else None


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
