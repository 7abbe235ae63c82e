"""The tables of dependent execution reasoning (Liu et al. 2024, Table II)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from counterlens.metrics.agreement import few_points, rank_correlation
from counterlens.metrics.bootstrap import Estimate, bootstrap, mean
from counterlens.metrics.effects import Proportion, wilson
from counterlens.metrics.figures import ComputedFigure, TabularFigure, draw_figures
from counterlens.metrics.table import Cell, Table
from counterlens.probes.execution.prompts import STYLES
from counterlens.probes.execution.record import DependentExecutionRecord, ExecutionAnswer, Form, Synthesis
from counterlens.probes.execution.tables import (
    SHOWN,
    UNREAD,
    baselines,
    ended_answers,
    pick,
    rate,
    styles,
    versions,
)
from counterlens.probes.prompts.baselines import baseline_table

Records = Sequence[DependentExecutionRecord]
_NOTE = (
    "written correctly: functions whose code passes their tests (n: all with a finished program). R_DER: the "
    "share of those whose output the model knows (Liu et al. 2024, equation 4). R_IER: the same for the "
    "reference code of all functions; same functions: of those written correctly; R'_IER: of those whose own "
    "output it knew"
)


def synthesis_rate(records: Records) -> Proportion:
    """The share of functions written correctly, among those that the token limit did not truncate."""
    syntheses = [attempt for attempt in _syntheses(records) if not attempt.truncated]
    return wilson(sum(synthesis.correct for synthesis in syntheses), len(syntheses))


def answers_of(records: Records) -> list[ExecutionAnswer]:
    """The answers of some records."""
    return [answer for record in records for answer in record.answers]


def dependent_tables(records: Records, *, seed: int) -> tuple[Table, ...]:
    """All tables of one model.

    Args:
        seed: Random seed of intervals.
    """
    few = len(_syntheses(records)) <= SHOWN
    return draw_figures([*([ComputedFigure(_functions)] if few else []), *_FIGURES], records, seed=seed)


def comparison_tables(models: Mapping[str, Records]) -> tuple[Table, ...]:
    """The further tables of several models."""
    return common(models), ranks(models)


def common(models: Mapping[str, Records]) -> Table:
    """R_DER on the functions that every model wrote correctly (Liu et al. 2024, R').

    Args:
        models: The records of each model, by its name.
    """
    asked = {
        (model, style): pick(ended_answers(answers_of(records)), style, Form.OWN)
        for model, records in models.items()
        for style in STYLES
    }
    rows: list[tuple[Cell, ...]] = []
    for model, records in models.items():
        for name, style in STYLES.items():
            shared = set.intersection(*(set(asked[other, name]) for other in models))
            own = asked[model, name]
            here = [own[target] for target in sorted(shared)]
            every = rate(list(own.values()))
            rows.append((model, style.title, synthesis_rate(records), len(own), every, len(here), rate(here)))
    columns = ("model", "asked", "written correctly", "n", "R_DER", "n in common", "R'_DER")
    note = "R'_DER: on the functions that all models wrote correctly (Liu et al. 2024, Table II)"
    return Table("dependent execution reasoning of several models", columns, tuple(rows), note)


def ranks(models: Mapping[str, Records]) -> Table:
    """Spearman's correlation over models between writing right and predicting the output (section IV-B)."""
    rows: list[tuple[Cell, ...]] = []
    for name, style in STYLES.items():
        pairs = []
        for records in models.values():
            written, own = synthesis_rate(records), list(pick(answers_of(records), name, Form.OWN).values())
            own_rate = rate(own)
            if written.value is not None and own_rate.value is not None:
                pairs.append((written.value, own_rate.value))
        rows.append((style.title, len(pairs), rank_correlation(pairs)))
    note = "Spearman's rank correlation over the models (Liu et al. 2024, section IV-B), for at least three"
    note += few_points([len(models)])
    columns = ("asked", "models", "rho of written correctly and R_DER")
    return Table("ranks of the models", columns, tuple(rows), note)


def _rates(records: Records, _seed: int) -> Table:
    answers = answers_of(records)
    rows: list[tuple[Cell, ...]] = []
    for name, style in STYLES.items():
        own, standing = (pick(ended_answers(answers), name, form) for form in (Form.OWN, Form.STANDING))
        same = [standing[target] for target in own if target in standing]
        where_own_right = [
            standing[target] for target, answer in own.items() if answer.right and target in standing
        ]
        rates = (rate(list(chosen)) for chosen in (own.values(), standing.values(), same, where_own_right))
        cut = sum(synthesis.truncated for synthesis in _syntheses(records))
        rows.append((style.title, synthesis_rate(records), cut, len(own), *rates))
    columns = (
        "asked",
        "written correctly",
        "truncated",
        "n",
        "R_DER",
        "R_IER",
        "R_IER, same functions",
        "R'_IER",
    )
    return Table("dependent execution reasoning", columns, tuple(rows), _NOTE)


def _complexity(records: Records, seed: int) -> Table:
    complexities = [
        (synthesis.complexity, synthesis.reference_complexity)
        for synthesis in _syntheses(records)
        if synthesis.correct
    ]
    pairs = [(own, reference) for own, reference in complexities if own is not None and reference is not None]

    def mean_of(side: int) -> Estimate:
        return bootstrap([float(pair[side]) for pair in pairs], mean, seed=seed)

    rows: tuple[tuple[Cell, ...], ...] = ((len(pairs), mean_of(0), mean_of(1)),) if pairs else ()
    note = "means over the functions written correctly (Liu et al. 2024, Figure 5)"
    return Table("cyclomatic complexity", ("n", "own code", "reference"), rows, note)


def _functions(records: Records, _seed: int) -> Table:
    answers = answers_of(records)
    rows: list[tuple[Cell, ...]] = []
    for synthesis in _syntheses(records):
        said = [
            pick(answers, style, form).get(synthesis.target)
            for form in (Form.OWN, Form.STANDING)
            for style in STYLES
        ]
        outcomes = (str(answer.outcome) if answer else None for answer in said)
        rows.append((synthesis.target, str(synthesis.judgement), synthesis.call, *outcomes))
    titles = [f"{form}, {style.title}" for form in ("own", "reference") for style in STYLES.values()]
    return Table("functions", ("function", "what it wrote", "call", *titles), tuple(rows))


def _syntheses(records: Records) -> list[Synthesis]:
    return [synthesis for record in records for synthesis in record.syntheses]


_FIGURES: Sequence[TabularFigure[DependentExecutionRecord]] = (
    ComputedFigure(_rates),
    versions(
        "its own code against the reference, function by function",
        Form.OWN,
        ("reference", "own code", "difference", "only own right", "only reference right", "McNemar p"),
    ),
    styles("answers about its own code", Form.OWN),
    ComputedFigure(lambda records, _: baseline_table(baselines(answers_of(records)))),
    UNREAD,
    ComputedFigure(_complexity),
)
