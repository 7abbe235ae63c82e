"""The tables of dependent execution reasoning (Liu et al. 2024, Table II), of plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from counterlens.metrics.bootstrap import Estimate, bootstrap, mean
from counterlens.metrics.effects import Proportion, wilson
from counterlens.metrics.summary import mcnemar_exact
from counterlens.probes.execution.prompts import STYLES
from counterlens.probes.execution.reasoning import Form, Row
from counterlens.probes.execution.tables import SHOWN, pick, rate, right, styles, unread
from counterlens.probes.task import Cell, Table

Data = Sequence[Mapping[str, Any]]
"""The data of some runs: `syntheses` and `answers`."""
_NOTE = (
    "written right: functions whose code passes their tests (n of all). R_DER: of those, the ones whose "
    "output the model knows (Liu et al. 2024, equation 4). R_IER: the same about the reference code of all "
    "functions; same functions: of those written right only; R'_IER: of those whose own output it knew"
)


def synthesised(found: Data) -> Proportion:
    """The share of the functions that were written right."""
    every = _syntheses(found)
    return wilson(sum(bool(one["correct"]) for one in every), len(every))


def dependent_tables(found: Data, *, seed: int) -> tuple[Table, ...]:
    """All tables of one model.

    Args:
        found: Its data.
        seed: Of intervals.
    """
    rows = _rows(found)
    own = [row for row in rows if row["form"] == Form.OWN]
    tables = [_rates(found, rows), _paired(rows), styles(own, "answers about its own code"), unread(rows)]
    tables.append(_complexity(found, seed))
    if len(_syntheses(found)) <= SHOWN:
        tables.insert(0, _functions(found, rows))
    return tuple(table for table in tables if table.rows)


def common(models: Mapping[str, Data]) -> Table:
    """R_DER on the functions that every model wrote right (Liu et al. 2024, R').

    Args:
        models: The data of each model, by its name.
    """
    asked = {
        (model, style): pick(_rows(found), style=style, form=Form.OWN)
        for model, found in models.items()
        for style in STYLES
    }
    drawn: list[tuple[Cell, ...]] = []
    for model, found in models.items():
        for style, one in STYLES.items():
            shared = set.intersection(*(set(asked[name, style]) for name in models)) if models else set()
            mine = asked[model, style]
            here = [mine[name] for name in sorted(shared)]
            drawn.append(
                (
                    model,
                    one.title,
                    synthesised(found),
                    len(mine),
                    rate(list(mine.values())),
                    len(here),
                    rate(here),
                )
            )
    columns = ("model", "asked", "written right", "n", "R_DER", "n in common", "R'_DER")
    note = "R'_DER: on the functions that all models wrote right (Liu et al. 2024, Table II)"
    return Table("dependent execution reasoning of several models", columns, tuple(drawn), note)


def _rates(found: Data, rows: Sequence[Row]) -> Table:
    drawn: list[tuple[Cell, ...]] = []
    for style, one in STYLES.items():
        own = pick(rows, style=style, form=Form.OWN)
        standing = pick(rows, style=style, form=Form.STANDING)
        same = [standing[name] for name in own if name in standing]
        known = [standing[name] for name, row in own.items() if right(row) and name in standing]
        drawn.append(
            (
                one.title,
                synthesised(found),
                len(own),
                rate(list(own.values())),
                rate(list(standing.values())),
                rate(same),
                rate(known),
            )
        )
    columns = ("asked", "written right", "n", "R_DER", "R_IER", "R_IER, same functions", "R'_IER")
    return Table("dependent execution reasoning", columns, tuple(drawn), _NOTE)


def _paired(rows: Sequence[Row]) -> Table:
    drawn: list[tuple[Cell, ...]] = []
    for style, one in STYLES.items():
        own = pick(rows, style=style, form=Form.OWN)
        standing = pick(rows, style=style, form=Form.STANDING)
        both = own.keys() & standing.keys()
        gained = sum(right(own[name]) and not right(standing[name]) for name in both)
        lost = sum(right(standing[name]) and not right(own[name]) for name in both)
        if both:
            drawn.append((one.title, len(both), gained, lost, mcnemar_exact(lost, gained)))
    columns = ("asked", "n", "only own right", "only reference right", "McNemar p")
    return Table("its own code against the reference, function by function", columns, tuple(drawn))


def _complexity(found: Data, seed: int) -> Table:
    every = [one for one in _syntheses(found) if one["correct"]]
    known = [one for one in every if None not in (one["complexity"], one["reference_complexity"])]

    def mean_of(key: str) -> Estimate:
        return bootstrap([float(one[key]) for one in known], mean, seed=seed)

    rows: tuple[tuple[Cell, ...], ...] = ()
    if known:
        rows = ((len(known), mean_of("complexity"), mean_of("reference_complexity")),)
    note = "means over the functions written right (Liu et al. 2024, Figure 5)"
    return Table("cyclomatic complexity", ("n", "own code", "reference"), rows, note)


def _functions(found: Data, rows: Sequence[Row]) -> Table:
    drawn: list[tuple[Cell, ...]] = []
    for one in _syntheses(found):
        said = [
            pick(rows, style=style, form=form).get(one["target"])
            for form in (Form.OWN, Form.STANDING)
            for style in STYLES
        ]
        outcomes = (row["outcome"] if row else None for row in said)
        drawn.append((one["target"], one["judgement"], one["call"], *outcomes))
    titles = [f"{form}, {style.title}" for form in ("own", "reference") for style in STYLES.values()]
    return Table("functions", ("function", "what it wrote", "call", *titles), tuple(drawn))


def _syntheses(found: Data) -> list[Mapping[str, Any]]:
    return [one for data in found for one in data["syntheses"]]


def _rows(found: Data) -> list[Row]:
    return [row for data in found for row in data["answers"]]
