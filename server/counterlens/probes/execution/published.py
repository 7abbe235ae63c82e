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
from itertools import chain
from statistics import median

from counterlens.metrics.agreement import few_points, rank_correlation
from counterlens.metrics.bootstrap import mean
from counterlens.metrics.effects import Proportion, wilson
from counterlens.metrics.significance import paired_shares
from counterlens.metrics.table import Cell, Table
from counterlens.probes.execution.record import (
    DependentExecutionRecord,
    ExecutionAnswer,
    ExecutionRecord,
    Form,
    SpecifiedFunction,
    Synthesis,
)
from counterlens.probes.execution.specification_tables import SETTINGS
from counterlens.probes.execution.tables import (
    AnswerBin,
    alone,
    bins_of,
    differing,
    doubling,
    pick,
    rounds_of,
)

PROTOCOL = "codemind"
STEPS, DIRECT = "steps", "direct"
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
Answers = Sequence[ExecutionAnswer]
Dependent = Sequence[DependentExecutionRecord]


@dataclass(frozen=True, slots=True)
class _Words:
    """The paper's words for the writing of functions, and the number of its table."""

    writing: str
    wrote: str
    table: str


_SYNTHESIS = _Words("synthesis", "synthesised", "Table II")
_TRANSLATION = _Words("translation", "translated", "Table III")


def share(values: Sequence[bool]) -> Proportion:
    """The share of true values, one for each program."""
    return wilson(sum(values), len(values))


def execution_tables(records: Sequence[ExecutionRecord]) -> tuple[Table, ...]:
    """The tables of independent execution reasoning: Tables I and IV, Figures 3, 4, 6, 7 and 8."""
    answers = list(chain.from_iterable(record.answers for record in records))
    asked = [answer for answer in answers if (answer.style, answer.form) == (STEPS, Form.STANDING)]
    complexity = bins_of(asked, lambda answer: answer.complexity, alone)
    rounds = bins_of(asked, rounds_of, doubling)
    tables = (
        _styles(answers),
        _thinking(answers),
        _constructs(asked),
        _curve("R_IER over cyclomatic complexity (Figure 4)", "CC", complexity),
        _curve("R_IER over loop length (Figure 7)", "loop length", rounds),
        _correlations({"CC": complexity, "loop length": rounds}),
        _types(asked),
        _loops(answers),
    )
    return tuple(table for table in tables if table.rows)


def dependent_tables(records: Dependent) -> tuple[Table, ...]:
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
        reasoning = share(list(own[model].values()))
        synthesis = share([synthesis_record.correct for synthesis_record in _syntheses(records)])
        rows.append((model, synthesis, reasoning, len(shared), share([own[model][name] for name in shared])))
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
            changes = differing(shares)
        cut = sum(function.settings[setting].truncated for function in functions)
        rows.append((title, len(functions), cut, share(list(passed[setting].values())), *changes))
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


def _styles(answers: Answers) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for style, title in _STYLES.items():
        asked = pick(answers, style, Form.STANDING)
        cut = sum(answer.truncated for answer in asked.values())
        rows.append((title, len(asked), cut, share([answer.right for answer in asked.values()])))
    columns = ("prompting", "programs", "truncated", "R_IER")
    return Table("R_IER (Table I, Figure 3)", columns, tuple(rows), _TRUNCATED)


def _thinking(answers: Answers) -> Table:
    cells = _paired_cells(*(_verdicts(answers, style, Form.STANDING) for style in (DIRECT, STEPS)))
    columns = ("n", "direct", "CoT", "CoT - direct", "only CoT", "only direct", "McNemar p")
    return Table("CoT against direct answering (Figure 3)", columns, (cells,) if cells else ())


def _loops(answers: Answers) -> Table:
    cells = _paired_cells(*(_verdicts(answers, STEPS, form) for form in (Form.STANDING, Form.UNROLLED)))
    columns = (
        "n",
        "loops",
        "unrolled loops",
        "unrolled - loops",
        "only unrolled",
        "only loops",
        "McNemar p",
    )
    return Table("unrolled loops (Table IV)", columns, (cells,) if cells else ())


def _paired_cells(first: Mapping[str, bool], second: Mapping[str, bool]) -> tuple[Cell, ...] | None:
    """Both shares, their difference, the changes and the test; None if no function has both."""
    shares = paired_shares(first, second)
    if not shares.n:
        return None
    return (shares.n, shares.first, shares.second, *differing(shares))


def _constructs(asked: Answers) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for tag, title in _CONSTRUCTS.items():
        right = [answer.right for answer in asked if tag in (answer.tags or ())]
        if right:
            rows.append((title, len(right), share(right)))
    return Table("R_IER by construct (Figure 6)", ("construct", "n", "R_IER"), tuple(rows), _TRUNCATED)


def _curve(title: str, head: str, bins: Sequence[AnswerBin]) -> Table:
    rows = tuple(
        (part.title, len(part.answers), share([answer.right for answer in part.answers])) for part in bins
    )
    return Table(title, (head, "n", "R_IER"), rows)


def _correlations(curves: Mapping[str, Sequence[AnswerBin]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, bins in curves.items():
        points = [(float(part.low), share([answer.right for answer in part.answers]).value) for part in bins]
        known = [(x, y) for x, y in points if y is not None]
        rows.append((name, len(known), rank_correlation(known)))
    note = "Spearman's rank correlation over the points of the curves above"
    note += few_points(count for _, count, _ in rows if isinstance(count, int))
    return Table(
        "rank correlation with R_IER (Figures 4 and 7)", ("with", "points", "rho"), tuple(rows), note
    )


def _types(asked: Answers) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for title in (*dict.fromkeys(_TYPES.values()), _OTHERS):
        chosen = [answer for answer in asked if _TYPES.get(answer.type, _OTHERS) == title]
        if chosen:
            matched = share([answer.same_type for answer in chosen])
            rows.append((title, len(chosen), matched, share([answer.right for answer in chosen])))
    columns = ("output type", "n", "type match", "value match")
    return Table("type match and value match (Figure 8)", columns, tuple(rows), _TRUNCATED)


def _dependent(records: Dependent) -> Table:
    answers = list(chain.from_iterable(record.answers for record in records))
    own, reference = _own(records), _verdicts(answers, STEPS, Form.STANDING)
    same = [reference[name] for name in own if name in reference]
    known = [reference[name] for name, right in own.items() if right and name in reference]
    syntheses = _syntheses(records)
    reasoning, independent = share(list(own.values())), share(list(reference.values()))
    test = paired_shares(reference, own)
    rows: tuple[tuple[Cell, ...], ...] = (
        ("subjects", len(syntheses)),
        ("truncated", sum(synthesis.truncated for synthesis in syntheses)),
        (_of(records).writing, share([synthesis.correct for synthesis in syntheses])),
        ("reasoned about", len(own)),
        ("R_DER", reasoning),
        ("R_IER", independent),
        ("R_IER, same programs", share(same)),
        ("R'_IER", share(known)),
        ("R_DER - R_IER", _minus(reasoning, independent)),
        ("R_DER - R_IER, same programs", test.difference if test.n else None),
        ("R_DER - R'_IER", _minus(reasoning, share(known))),
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


def _verdicts(answers: Answers, style: str, form: Form) -> dict[str, bool]:
    """Whether the answers in one style about one form are right, by function; truncated ones are wrong."""
    return {name: answer.right for name, answer in pick(answers, style, form).items()}


def _own(records: Dependent) -> dict[str, bool]:
    """Whether the model predicted the output of its own right code, by function."""
    answers = list(chain.from_iterable(record.answers for record in records))
    return _verdicts(answers, STEPS, Form.OWN)


def _of(records: Dependent) -> _Words:
    return _TRANSLATION if records and records[0].translated_from else _SYNTHESIS


def _syntheses(records: Dependent) -> list[Synthesis]:
    return [synthesis for record in records for synthesis in record.syntheses]


def _minus(first: Proportion, other: Proportion) -> float | None:
    return None if first.value is None or other.value is None else first.value - other.value
