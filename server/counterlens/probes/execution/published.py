"""The protocol of CodeMind (Liu et al. 2024): its questions, its criterion of right answers, and its tables.

Shares are over all programs, with intervals that the paper does not have; like the paper, they count a
truncated answer as wrong. All
questions are asked step by step (chain of thought) unless a table says otherwise. Answers are
right if they match the text of the output, ignoring blanks and the kind of quotation marks, as in the
authors' scripts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from counterlens.metrics.agreement import few_points, rank_correlation
from counterlens.metrics.bootstrap import mean
from counterlens.metrics.effects import Proportion, wilson
from counterlens.metrics.figures import (
    ComputedFigure,
    Estimator,
    GroupedFigure,
    Rows,
    TabularFigure,
    comparison,
    count,
    in_order,
    number,
    share,
)
from counterlens.metrics.significance import paired_shares
from counterlens.metrics.table import Cell, Table
from counterlens.probes.execution.prompts import DIRECT, STEPS
from counterlens.probes.execution.record import (
    DependentExecutionRecord,
    ExecutionAnswer,
    Form,
    SpecifiedFunction,
    Synthesis,
)
from counterlens.probes.execution.specification_tables import SETTINGS
from counterlens.probes.execution.tables import (
    Answered,
    Figure,
    Measured,
    bins_of,
    doubling,
    pick,
    standing,
    verdict,
    with_points,
)

PROTOCOL = "codemind"
TOKENS = 512
"""Maximum new tokens of a completion model, as in the authors' scripts; the paper gives no number."""
_STYLES = {DIRECT: "direct answering", STEPS: "CoT"}
_CONSTRUCTS = {
    "basic": "Basic",
    "for": "For",
    "if": "If",
    "nested if": "Nested If",
    "nested loop": "Nested Loop",
    "match": "Switch",
    "try": "Try",
    "while": "While",
}
_TYPES = {
    "int": "Int",
    "float": "Decimal",
    "str": "String",
    "bool": "Binary",
    "list": "List",
    "tuple": "Tuple",
    # Java's
    **dict.fromkeys(("byte", "short", "long", "BigInteger"), "Int"),
    **dict.fromkeys(("double", "BigDecimal"), "Decimal"),
    **dict.fromkeys(("char", "String"), "String"),
    "boolean": "Binary",
    **dict.fromkeys(("array", "List"), "List"),
}
_OTHERS = "Object"
_TRUNCATED = "an answer that the token limit truncated counts as wrong, as in the paper"

Dependent = Sequence[DependentExecutionRecord]
Records = GroupedFigure[Answered, Answered]
_RIGHT: Estimator[ExecutionAnswer] = share(lambda answer: answer.right)
_BINS = {
    "CC": bins_of("cyclomatic complexity", lambda value: (value, value)),
    "loop length": bins_of("rounds", doubling),
}


@dataclass(frozen=True, slots=True)
class _Words:
    """The paper's words for the writing of functions, and the number of its table."""

    writing: str
    wrote: str
    table: str


_SYNTHESIS = _Words("synthesis", "synthesised", "Table II")
_TRANSLATION = _Words("translation", "translated", "Table III")


def _stepwise_answers(record: Answered) -> list[ExecutionAnswer]:
    """The answers step by step about the unchanged function."""
    return [answer for answer in standing(record) if answer.style == STEPS]


def _is_right(answer: ExecutionAnswer) -> bool:
    return answer.right


def _compare_answers(title: str, first: tuple[str, Form], second: tuple[str, Form], *names: str) -> Records:
    return Records(
        title,
        of=lambda record: [record],
        columns={
            ("n", *names, "McNemar p"): comparison(
                lambda record: verdict(record, *first, _is_right),
                lambda record: verdict(record, *second, _is_right),
            )
        },
    )


def _curve(title: str, measure: str) -> Figure:
    return Figure(title, _stepwise_answers, {"n": count, "R_IER": _RIGHT}, {measure: _BINS[measure]})


def _rank_correlation(rows: Rows[Measured], _seed: int) -> tuple[int, float | None]:
    """The number of points of a curve, and their correlation: the minimum of each bin, and its rate."""
    bins: dict[float, list[bool]] = {}
    for _, (measure, answer) in rows:
        for low, _ in _BINS[measure].of(answer):
            bins.setdefault(low, []).append(answer.right)
    points = [(float(low), sum(right) / len(right)) for low, right in bins.items()]
    return len(points), rank_correlation(points)


_CURVES = GroupedFigure[Answered, Measured](
    "rank correlation with R_IER (Figures 4 and 7)",
    of=lambda record: ((measure, answer) for measure in _BINS for answer in _stepwise_answers(record)),
    by={"with": lambda row: row[0]},
    columns={("points", "rho"): _rank_correlation},
    note="Spearman's rank correlation over the points of the curves above",
)
FIGURES: Sequence[TabularFigure[Answered]] = (
    Figure(
        "R_IER (Table I, Figure 3)",
        of=standing,
        by={"prompting": in_order(lambda answer: answer.style, _STYLES)},
        columns={
            "programs": count,
            "truncated": number(lambda answer: answer.truncated),
            "R_IER": _RIGHT,
        },
        note=_TRUNCATED,
    ),
    _compare_answers(
        "CoT against direct answering (Figure 3)",
        (DIRECT, Form.STANDING),
        (STEPS, Form.STANDING),
        *("direct", "CoT", "CoT - direct", "only CoT", "only direct"),
    ),
    Figure(
        "R_IER by construct (Figure 6)",
        of=_stepwise_answers,
        by={"construct": in_order(lambda answer: answer.tags, _CONSTRUCTS, several=True)},
        columns={"n": count, "R_IER": _RIGHT},
        note=_TRUNCATED,
    ),
    _curve("R_IER over cyclomatic complexity (Figure 4)", "CC"),
    _curve("R_IER over loop length (Figure 7)", "loop length"),
    ComputedFigure(lambda records, seed: with_points(_CURVES.table(records, seed=seed), "points")),
    Figure(
        "type match and value match (Figure 8)",
        of=_stepwise_answers,
        by={
            "output type": in_order(
                lambda answer: _TYPES.get(answer.type, _OTHERS), [*dict.fromkeys(_TYPES.values()), _OTHERS]
            )
        },
        columns={"n": count, "type match": share(lambda answer: answer.same_type), "value match": _RIGHT},
        note=_TRUNCATED,
    ),
    _compare_answers(
        "unrolled loops (Table IV)",
        (STEPS, Form.STANDING),
        (STEPS, Form.UNROLLED),
        *("loops", "unrolled loops", "unrolled - loops", "only unrolled", "only loops"),
    ),
)
"""The figures of independent execution reasoning: Tables I and IV, Figures 3, 4, 6, 7 and 8."""


def _share_of(values: Sequence[bool]) -> Proportion:
    """The share of true values, one for each program."""
    return wilson(sum(values), len(values))


def dependent_tables(records: Dependent, *, seed: int) -> tuple[Table, ...]:  # noqa: ARG001
    """The tables of dependent execution reasoning of one model: Table II or III, and Figure 5."""
    rates, complexity = _dependent(records), _complexity(records)
    return tuple(table for table in (rates, complexity) if table.rows)


def comparison_tables(models: Mapping[str, Dependent]) -> tuple[Table, ...]:
    """R'_DER on the functions all models wrote correctly, and agreement of ranks (Tables II and III)."""
    words = _of([record for records in models.values() for record in records])
    own = {model: _own(records) for model, records in models.items()}
    shared = sorted(set.intersection(*map(set, own.values())))
    rows: list[tuple[Cell, ...]] = []
    pairs = []
    for model, records in models.items():
        reasoning = _share_of(list(own[model].values()))
        synthesis = _share_of([each.correct for each in _syntheses(records)])
        rows.append(
            (model, synthesis, reasoning, len(shared), _share_of([own[model][name] for name in shared]))
        )
        if reasoning.value is not None and synthesis.value is not None:
            pairs.append((synthesis.value, reasoning.value))
    columns = ("model", words.writing, "R_DER", "n in common", "R'_DER")
    return (
        Table(
            f"R'_DER on programs that all models {words.wrote} correctly ({words.table})",
            columns,
            tuple(rows),
        ),
        Table(
            f"ranks of the models by {words.writing} and reasoning (section IV-B)",
            ("models", "rho"),
            ((len(pairs), rank_correlation(pairs)),),
            f"Spearman's rank correlation, for at least three models{few_points([len(pairs)])}",
        ),
    )


def specification_tables(functions: Sequence[SpecifiedFunction]) -> tuple[Table, ...]:
    """The tables of specification reasoning (section IV-C)."""
    passed = {
        setting: {function.target: function.settings[setting].passed for function in functions}
        for setting in SETTINGS
    }
    rows: list[tuple[Cell, ...]] = []
    for setting, title in SETTINGS.items():
        shares = paired_shares(passed["none"], passed[setting])
        changes: tuple[Cell, ...] = (None,) * 4
        if setting != "none" and shares.n:
            changes = (shares.difference, shares.gained, shares.lost, shares.p)
        cut = sum(function.settings[setting].truncated for function in functions)
        rows.append((title, len(functions), cut, _share_of(list(passed[setting].values())), *changes))
    columns = (
        "setting",
        "programs",
        "truncated",
        "pass",
        "pass - no test",
        "only with",
        "only without",
        "McNemar p",
    )
    shares = paired_shares(passed["none"], passed["true"])
    failed = sum(not passed["none"][name] for name in passed["none"].keys() & passed["true"].keys())
    reasoning: tuple[Cell, ...] = (
        shares.n,
        *(wilson(shares.gained, of) for of in (shares.n, failed)),
        failed,
    )
    note = "of all: equation 6; of those that failed without the test: as section IV-C interprets its figures"
    return (
        Table("specification reasoning (section IV-C)", columns, tuple(rows), _TRUNCATED),
        Table("R_SR", ("n", "of all", "of those failed", "failed without"), (reasoning,), note),
    )


def _dependent(records: Dependent) -> Table:
    own, reference = _own(records), _verdicts(records, Form.STANDING)
    same = [reference[name] for name in own if name in reference]
    where_own_right = [reference[name] for name, right in own.items() if right and name in reference]
    syntheses = _syntheses(records)
    reasoning, independent = _share_of(list(own.values())), _share_of(list(reference.values()))
    test = paired_shares(reference, own)
    rows: tuple[tuple[Cell, ...], ...] = (
        ("subjects", len(syntheses)),
        ("truncated", sum(synthesis.truncated for synthesis in syntheses)),
        (_of(records).writing, _share_of([synthesis.correct for synthesis in syntheses])),
        ("reasoned about", len(own)),
        ("R_DER", reasoning),
        ("R_IER", independent),
        ("R_IER, same programs", _share_of(same)),
        ("R'_IER", _share_of(where_own_right)),
        ("R_DER - R_IER", _minus(reasoning, independent)),
        ("R_DER - R_IER, same programs", test.difference if test.n else None),
        ("R_DER - R'_IER", _minus(reasoning, _share_of(where_own_right))),
        ("only own right", test.gained),
        ("only reference right", test.lost),
        ("McNemar p, same programs", test.p),
    )
    note = (
        f"R_DER over the programs that were {_of(records).wrote} right; R'_IER over the reference code of "
        "those with S_DER = 1, as in section IV-B. The test is of the same programs, own code against "
        "reference"
    )
    return Table(f"dependent execution reasoning ({_of(records).table})", ("figure", "value"), rows, note)


def _complexity(records: Dependent) -> Table:
    pairs = [
        (synthesis.complexity, synthesis.reference_complexity)
        for synthesis in _syntheses(records)
        if synthesis.correct
        and synthesis.complexity is not None
        and synthesis.reference_complexity is not None
    ]
    sides = {"own code": [own for own, _ in pairs], "reference": [other for _, other in pairs]}
    rows = tuple((title, len(side), mean(side), float(median(side))) for title, side in sides.items() if side)
    return Table("cyclomatic complexity (Figure 5)", ("code", "n", "mean", "median"), rows)


def _verdicts(records: Dependent, form: Form) -> dict[str, bool]:
    """Whether the answer about one version is right, by function; a truncated one is wrong."""
    answers = [answer for record in records for answer in record.answers]
    return {name: answer.right for name, answer in pick(answers, STEPS, form).items()}


def _own(records: Dependent) -> dict[str, bool]:
    """Whether the model predicted the output of its own right code, by function."""
    return _verdicts(records, Form.OWN)


def _of(records: Dependent) -> _Words:
    return _TRANSLATION if records and records[0].translated_from else _SYNTHESIS


def _syntheses(records: Dependent) -> list[Synthesis]:
    return [synthesis for record in records for synthesis in record.syntheses]


def _minus(first: Proportion, other: Proportion) -> float | None:
    return None if first.value is None or other.value is None else first.value - other.value
