"""The figures of execution reasoning, for any number of answers (Liu et al. 2024, section IV)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from counterlens.metrics.agreement import few_points, spearman
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Proportion, pooled_share
from counterlens.metrics.figures import (
    ComputedFigure,
    Estimator,
    GroupedFigure,
    Key,
    Rater,
    Rows,
    TabularFigure,
    Verdict,
    comparison,
    count,
    in_order,
    number,
    rows_of,
    share,
)
from counterlens.metrics.table import Table
from counterlens.probes.execution.language import TAGS, USES
from counterlens.probes.execution.prompts import STYLES
from counterlens.probes.execution.record import (
    DependentExecutionRecord,
    ExecutionAnswer,
    ExecutionRecord,
    Form,
)
from counterlens.probes.prompts.baselines import ChanceComparison, baseline_table, share_right
from counterlens.probes.prompts.literals import ABSOLUTE, RELATIVE, AnswerOutcome, short

SHOWN = 12
"""Maximum number of functions in a list."""
MOST_APIS = 12
"""Maximum number of callees in a table; the most frequent ones are shown."""
TITLES = {name: style.title for name, style in STYLES.items()}
PAIRED = ("difference", "only second right", "only first right", "McNemar p")
ASKED: Mapping[str, Key[ExecutionAnswer]] = {"asked": in_order(lambda answer: answer.style, TITLES)}
Answers = Sequence[ExecutionAnswer]
Answered = ExecutionRecord | DependentExecutionRecord
Figure = GroupedFigure[Answered, ExecutionAnswer]
MEASURES: Mapping[str, Callable[[ExecutionAnswer], int | None]] = {
    "cyclomatic complexity": lambda answer: answer.complexity,
    "lines": lambda answer: answer.lines,
    "rounds": lambda answer: answer.rounds if {"for", "while"} & set(answer.tags or ()) else None,
}
"""The counted quantities, by name; None if unknown, or for the rounds if there is no loop."""
_NOTE = (
    f"answers are read as literals and compared as values, floats within {RELATIVE:g} relative or "
    f"{ABSOLUTE:g}; n counts finished answers: one truncated at the token limit is neither right nor wrong. "
    f"An unparsable answer, a refusal, and a float for an int (or the reverse) count as wrong"
)


def right_if_finished(answer: ExecutionAnswer) -> bool | None:
    """Whether an answer is right; None if the token limit truncated it (Liu et al. 2024, equation 3)."""
    return None if answer.truncated else answer.right


def about(form: Form) -> Callable[[Answered], list[ExecutionAnswer]]:
    """The answers about one version of the program."""
    return lambda record: [answer for answer in record.answers if answer.form is form]


standing = about(Form.STANDING)


def verdict(
    record: Answered, style: str, form: Form, right: Verdict[ExecutionAnswer] = right_if_finished
) -> bool | None:
    """Whether the answer in one style about one version is right; None if there is none that counts."""
    asked = (answer for answer in record.answers if (answer.style, answer.form) == (style, form))
    return next(map(right, asked), None)


def versions(title: str, other: Form, names: Sequence[str], note: str = "") -> TabularFigure[Answered]:
    """The answers about the function as it stands and about another version, in each style."""
    return GroupedFigure[Answered, tuple[str, Answered]](
        title,
        of=lambda record: ((style, record) for style in STYLES),
        by={"asked": lambda row: TITLES[row[0]]},
        columns={
            ("n", *names): comparison(
                lambda row: verdict(row[1], row[0], Form.STANDING), lambda row: verdict(row[1], row[0], other)
            )
        },
        note=note,
    )


def ended_answers(answers: Answers) -> list[ExecutionAnswer]:
    """The answers that the token limit did not truncate."""
    return [answer for answer in answers if not answer.truncated]


def rate(answers: Answers) -> Proportion:
    """The execution reasoning rate (Liu et al. 2024, equation 3): right answers among those not truncated."""
    return pooled_share((answer.target, answer.right) for answer in ended_answers(answers))


def pick(answers: Answers, style: str, form: Form) -> dict[str, ExecutionAnswer]:
    """The answers in one style about one form, by function."""
    return {answer.target: answer for answer in answers if (answer.style, answer.form) == (style, form)}


def baselines(answers: Answers) -> list[ChanceComparison]:
    """The share of right answers in each style among those not truncated, beside answers without a model."""
    drawn = []
    for name, title in TITLES.items():
        of_style = [answer for answer in ended_answers(answers) if answer.style == name]
        truths, right = [answer.truth for answer in of_style], sum(answer.right for answer in of_style)
        drawn.append(share_right(title, truths, right, sum(answer.copied for answer in of_style)))
    return [baseline for baseline in drawn if baseline]


def styles(title: str, form: Form) -> Figure:
    """The rate for each style, and the number of answers by outcome other than right and wrong."""
    outcomes = [kind for kind in AnswerOutcome if kind not in (AnswerOutcome.RIGHT, AnswerOutcome.WRONG)]
    columns: Mapping[Any, Estimator[ExecutionAnswer]] = {
        "n": number(lambda answer: not answer.truncated),
        "rate": share(right_if_finished),
        tuple(map(str, outcomes)): lambda rows, _: [
            sum(answer.outcome is kind for _, answer in rows) for kind in outcomes
        ],
    }
    return Figure(title, about(form), columns, ASKED, note=_NOTE)


def bins_of(name: str, edges: Callable[[int], tuple[int, int]]) -> Key[ExecutionAnswer]:
    """The bins of a measure; an answer about a function that lacks it is in none.

    Args:
        edges: Returns the minimum and maximum of a value's bin.
    """
    return Key(
        lambda answer: () if (value := MEASURES[name](answer)) is None else (edges(value),),
        title=lambda ends: f"{ends[0]} to {ends[1]}" if ends[0] < ends[1] else str(ends[0]),
    )


def doubling(value: int) -> tuple[int, int]:
    """The bin of a value: 0, 1, 2, 3 to 4, 5 to 8, 9 to 16, and so on."""
    high = 1 << (value - 1).bit_length() if value > 1 else value
    return (high // 2 + 1 if value > 1 else value), high


def _rates_by(title: str, head: str, parts: Key[ExecutionAnswer]) -> Figure:
    """The rates in parts of the answers, by style (Liu et al. 2024, Figures 4, 6 and 7)."""

    def in_style(style: str) -> Rater[ExecutionAnswer]:
        return lambda answer: right_if_finished(answer) if answer.style == style else None

    rates = {title: share(in_style(style)) for style, title in TITLES.items()}
    functions: Estimator[ExecutionAnswer] = lambda rows, _: len({name for name, _ in rows})  # noqa: E731
    return Figure(title, standing, {"n": functions, **rates}, {head: parts})


def _by_callee(records: Sequence[Answered]) -> Figure:
    """The rates by the most frequent callees, each called by at least two functions."""
    users: dict[str, set[str]] = {}
    for record in records:
        for name in {name for answer in standing(record) for name in answer.apis or ()}:
            users.setdefault(name, set()).add(record.target)
    several = (name for name in users if len(users[name]) > 1)
    names = sorted(several, key=lambda name: (-len(users[name]), name))[:MOST_APIS]
    return _rates_by("by functions called", "API", in_order(lambda each: each.apis, names, several=True))


Measured = tuple[str, ExecutionAnswer]
"""The name of a measure, and an answer."""


def _rank_correlation(rows: Rows[Measured], seed: int) -> tuple[int, Estimate]:
    values = [(MEASURES[name](answer), answer.right) for _, (name, answer) in rows]
    pairs = [(float(value), float(right)) for value, right in values if value is not None]
    return len(pairs), spearman(pairs, seed=seed)


def with_points(table: Table, column: str) -> Table:
    """A table of correlations whose note says so if one is over few points; a column has their numbers."""
    points = (row[table.columns.index(column)] for row in table.rows)
    return replace(table, note=table.note + few_points(n for n in points if isinstance(n, int)))


def _calls(records: Sequence[Answered]) -> Table:
    """All questions, with their answers, if they are about few functions."""
    few = records if len(records) <= SHOWN else ()
    rows = tuple(
        (
            answer.call + (f" ({answer.form})" if answer.form is not Form.STANDING else ""),
            TITLES[answer.style],
            str(answer.input),
            short(answer.truth),
            short(answer.answer),
            str(answer.outcome),
        )
        for record in sorted(few, key=lambda record: record.target)
        for answer in record.answers
    )
    return Table("calls", ("call", "asked", "input from", "gives", "answer", ""), rows)


UNREAD = Figure(
    "unreadable answers",
    of=lambda record: [answer for answer in record.answers if answer.unread],
    by={**ASKED, "why": Key(lambda answer: (answer.unread,))},
    columns={"n": count},
)
"""The reasons why answers could not be read."""
_DIFFICULTY = GroupedFigure[Answered, Measured](
    "correlates of difficulty",
    of=lambda record: (
        (name, answer) for name in MEASURES for answer in standing(record) if not answer.truncated
    ),
    by={
        "measure": in_order(lambda row: row[0], [*MEASURES]),
        "asked": in_order(lambda row: row[1].style, TITLES),
    },
    columns={("n", "rho"): _rank_correlation},
    note="Spearman's rank correlation with being right; below 0: higher values are wrong more often. "
    "Iterations are counted while the call runs, for functions with loops",
)
"""The correlates of difficulty (Liu et al. 2024, Figures 4 and 7)."""
FIGURES: Sequence[TabularFigure[Answered]] = (
    ComputedFigure(lambda records, _: _calls(records)),
    styles("independent execution reasoning", Form.STANDING),
    ComputedFigure(
        lambda records, _: baseline_table(baselines([each for _, each in rows_of(records, standing)]))
    ),
    GroupedFigure[Answered, Answered](
        "step by step against direct",  # Liu et al. 2024, Figure 3
        of=lambda record: [record],
        columns={
            ("n", *TITLES.values(), *PAIRED): comparison(
                *(partial(verdict, style=style, form=Form.STANDING) for style in STYLES)
            )
        },
        note="the same functions and inputs, if both answers finished; first: direct, second: step by step",
    ),
    UNREAD,
    _rates_by("by construct", "construct", in_order(lambda each: each.tags, TAGS, several=True)),
    _rates_by(
        "by features used", "operators and calls", in_order(lambda each: each.uses, USES, several=True)
    ),
    ComputedFigure(lambda records, seed: _by_callee(records).table(records, seed=seed)),
    Figure(
        "by type of result",  # Figure 8
        of=lambda record: [answer for answer in standing(record) if not answer.truncated],
        by={"type": Key(lambda answer: (answer.type,)), **ASKED},
        columns={
            "n": count,
            "right type": share(lambda answer: answer.same_type),
            "right value": share(right_if_finished),
        },
    ),
    _rates_by("by source of the inputs", "inputs", Key(lambda answer: (answer.input,))),
    ComputedFigure(
        lambda records, seed: with_points(
            _DIFFICULTY.table(records if len(records) > 2 else (), seed=seed), "n"
        )
    ),
    *(_rates_by(f"accuracy over {name}", name, bins_of(name, doubling)) for name in MEASURES),
    versions(
        "the effect of unrolling loops",
        Form.UNROLLED,
        ("loops", "unrolled", *PAIRED),
        "the same functions and inputs; loops are unrolled as executed (Liu et al. 2024, Table IV); first: "
        "with its loops, second: unrolled",
    ),
)
"""The figures of independent execution reasoning; those about unrolled programs are separate."""
