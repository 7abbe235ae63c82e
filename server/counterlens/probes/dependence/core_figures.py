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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from counterlens.counting import plural
from counterlens.datasets.core import CoreTask
from counterlens.metrics.figures import (
    Estimator,
    GroupedFigure,
    count,
    draw_figures,
    in_order,
    number,
    of_sums,
)
from counterlens.metrics.table import Table
from counterlens.probes.dependence.core_answers import CoreAnswer
from counterlens.probes.dependence.core_form import CoreForm
from counterlens.probes.dependence.record import DependenceRecord

_SOURCES = "source questions"
_TASKS: dict[CoreTask | None, str] = {**{task: task.words for task in CoreTask}, None: "all tasks"}
Asked = tuple[CoreTask | None, CoreAnswer]
"""An answer among those of its task, or among all."""
Counted = Callable[[CoreAnswer], float]


def of_sets(answered: Sequence[str], true: Sequence[str]) -> tuple[float, float, float]:
    """Precision, recall and F1 of a set against another one; for empty sets as in CoRe."""
    both, n, of = len({*answered} & {*true}), len({*answered}), len({*true})
    precision = both / n if n else 1.0
    recall = both / of if of else 1.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def core_tables(records: Sequence[DependenceRecord], seed: int) -> tuple[Table, ...]:
    """The figures over the answers about some functions, with a note on where questions and truths are from.

    Args:
        seed: Random seed of intervals.
    """
    functions = plural(sum(bool(record.answers) for record in records), "function")

    def noted(table: Table) -> Table:
        form = CoreForm.SOURCE if table.title == _SOURCES else CoreForm.TRACE
        shown = [answer for record in records for answer in record.answers if answer.form is form]
        said = (
            f"{functions}; CoRe's own questions, in its wording: {sum(a.own_words for a in shown)} of "
            f"{len(shown)}; of CoRe Lite: {sum(a.lite for a in shown)}; judged by human labels: "
            f"{sum(a.labelled for a in shown)}, the others by the dependence graph. Intervals: functions "
            "resampled."
        )
        return replace(table, note=f"{table.note} {said}".strip())

    return tuple(map(noted, draw_figures(_FIGURES, records, seed=seed)))


def _figure(
    title: str, form: CoreForm, columns: Mapping[str, Estimator[Asked]], note: str = ""
) -> GroupedFigure[DependenceRecord, Asked]:
    """The figures of the questions of one form, by task and all together."""

    def asked(record: DependenceRecord) -> Iterator[Asked]:
        answers = (answer for answer in record.answers if answer.form is form)
        return ((task, answer) for answer in answers for task in (answer.task, None))

    return GroupedFigure(title, asked, columns, {"": in_order(lambda row: row[0], _TASKS)}, note=note)


def _of(figure: Callable[..., float | None], *counted: Counted) -> Estimator[Asked]:
    def term(counts: Counted) -> Callable[[Asked], float]:
        return lambda row: counts(row[1])

    return of_sums(figure, *map(term, counted))


def _number(counts: Callable[[CoreAnswer], Any]) -> Estimator[Asked]:
    return number(lambda row: counts(row[1]))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _known_ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _f1(both: float, named: float, true: float) -> float:
    return _ratio(2 * both, named + true)


def _f1_difference(both: float, named: float, true: float, rule_both: float, ruled: float) -> float:
    return _f1(both, named, true) - _f1(rule_both, ruled, true)


def _one(_: CoreAnswer) -> float:
    return 1


def _is_true(answer: CoreAnswer) -> bool:
    return answer.true


def _says_yes(answer: CoreAnswer) -> bool:
    return answer.said


def _rule_says_yes(answer: CoreAnswer) -> bool:
    return answer.ruled


def _both(answer: CoreAnswer) -> bool:
    return answer.said and answer.true


def _rule_both(answer: CoreAnswer) -> bool:
    return answer.ruled and answer.true


def _where_rule_errs(counts: Callable[[CoreAnswer], bool]) -> Counted:
    return lambda answer: answer.true != answer.ruled and counts(answer)


def _of_traces(value: Counted) -> Estimator[Asked]:
    """The mean over questions whose answer is yes; a trace without steps has none right."""
    return _of(_known_ratio, lambda answer: value(answer) if answer.true and answer.steps else 0.0, _is_true)


def _of_sources(value: Counted) -> Estimator[Asked]:
    return _of(_ratio, value, _one)


def _by_model(place: int) -> Counted:
    return lambda answer: of_sets(answer.said_sources, answer.sources)[place]


_F1, _RULE_F1 = _of(_f1, _both, _says_yes, _is_true), _of(_f1, _rule_both, _rule_says_yes, _is_true)
_UNREAD = {"unreadable": _number(lambda answer: not answer.read)}
_FIGURES = (
    _figure(
        "pairwise questions",
        CoreForm.TRACE,
        {
            "questions": count,
            "answer is yes": _number(_is_true),
            "accuracy": _of(_ratio, lambda answer: answer.said == answer.true, _one),
            "precision": _of(_ratio, _both, _says_yes),
            "recall": _of(_ratio, _both, _is_true),
            "F1": _F1,
            "rule's F1": _RULE_F1,
            **_UNREAD,
        },
    ),
    _figure(
        "compared with rules without a model",
        CoreForm.TRACE,
        {
            "F1": _F1,
            "rule's F1": _RULE_F1,
            "difference": _of(_f1_difference, _both, _says_yes, _is_true, _rule_both, _rule_says_yes),
            "rule wrong": _number(lambda answer: answer.ruled != answer.true),
            "F1 if rule wrong": _of(
                lambda both, said, true: _known_ratio(2 * both, said + true),
                *map(_where_rule_errs, (_both, _says_yes, _is_true)),
            ),
        },
        "Rules without a model: recurring names for data, indentation for control, both for information "
        "flow, over any number of steps. On pairs where the rule is wrong, its own F1 is 0.",
    ),
    _figure(
        "traces of questions answered by yes",
        CoreForm.TRACE,
        {
            "questions": _number(_is_true),
            "correct trace rate": _of_traces(lambda answer: answer.right == answer.steps),
            "trace precision": _of_traces(lambda answer: answer.right / answer.steps),
            "false edge rate": _of_traces(lambda answer: answer.false / answer.steps),
            "missing nodes": _of_traces(lambda answer: answer.left_out),
        },
    ),
    _figure(
        _SOURCES,
        CoreForm.SOURCE,
        {
            "questions": count,
            "exact match": _of_sources(lambda answer: {*answer.said_sources} == {*answer.sources}),
            "precision": _of_sources(_by_model(0)),
            "recall": _of_sources(_by_model(1)),
            "F1": _of_sources(_by_model(2)),
            "rule's exact match": _of_sources(lambda answer: {*answer.ruled_sources} == {*answer.sources}),
            "rule's F1": _of_sources(lambda answer: of_sets(answer.ruled_sources, answer.sources)[2]),
            **_UNREAD,
        },
        "Means over questions.",
    ),
)
