"""Robustness and sensitivity as tables, in the layout of Nguyen et al. 2024: Tables 3 to 6 and Figure 7."""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.metrics.bootstrap import Estimate, pooled_mean
from counterlens.metrics.table import Cell, Table
from counterlens.mutations import every_mutation
from counterlens.mutations.base import Concept
from counterlens.probes.robustness.questions import AnswerPair, RobustnessRecord
from counterlens.probes.robustness.versions import Standing

FEW = 16
"""Maximum number of answers in a list."""
Records = Sequence[RobustnessRecord]
_KINDS = {
    Standing.PRESERVING: "robustness to preserving changes",
    Standing.BREAKING: "sensitivity to breaking changes",
    Standing.POSSIBLY_EQUIVALENT: "difference after possibly equivalent changes",
    Standing.UNSETTLED: "difference after changes that could not be verified by execution",
}
_SETTLED = {Standing.PRESERVING: "robustness", Standing.BREAKING: "sensitivity"}
_DEPENDENCE = {Concept.CONTROL_FLOW: "control", Concept.DATA_FLOW: "data"}


def score(pairs: Sequence[AnswerPair], measure: str) -> Estimate:
    """The mean similarity if the meaning is kept, 1 minus it if not; intervals are over functions."""
    similarities = ((pair.target, _value(pair, measure)) for pair in pairs)
    return pooled_mean(similarities, bounds=(0, 1))


def overall(records: Records, heading: str) -> Table:
    """Tables 3, 4 and 5: a row for each similarity and kind of change."""
    rows: list[tuple[Cell, ...]] = []
    for measure in measures_of(records):
        for standing, title in _KINDS.items():
            pairs = _pairs(records, standing)
            if pairs:
                functions = len({pair.target for pair in pairs})
                rows.append((measure, title, len(pairs), functions, score(pairs, measure)))
    columns = ("similarity", "", "n", "functions", "mean")
    note = f"robustness: mean similarity of the answers; sensitivity: 1 minus it; {records[0].note}"
    return Table(heading, columns, tuple(rows), note)


def by_change(records: Records, heading: str) -> Table:
    """Table 6: a row for each mutation."""
    measures = measures_of(records)
    rows: list[tuple[Cell, ...]] = []
    for standing, kind in _SETTLED.items():
        for name, mutation in every_mutation().items():
            pairs = [pair for pair in _pairs(records, standing) if pair.mutation == name]
            if pairs:
                dependence = _DEPENDENCE.get(mutation.concept, str(mutation.concept))
                figures = (score(pairs, measure) for measure in measures)
                rows.append((kind, dependence, name, len(pairs), *figures))
    return Table(f"{heading}, by change", ("", "dependence", "change", "n", *measures), tuple(rows))


def by_correctness(records: Records, heading: str) -> Table | None:
    """RQ3 (Figure 7): functions that pass their tests, and ones that fail; None if one kind is missing."""
    if {True, False} - {pair.correct for record in records for pair in record.pairs}:
        return None
    measures = measures_of(records)
    rows: list[tuple[Cell, ...]] = []
    for standing, kind in _SETTLED.items():
        for correct in (True, False):
            pairs = [pair for pair in _pairs(records, standing) if pair.correct is correct]
            figures = (score(pairs, measure) for measure in measures)
            rows.append((kind, "correct" if correct else "incorrect", len(pairs), *figures))
    columns = ("", "code", "n", *measures)
    return Table(f"{heading}, by correctness of the code", columns, tuple(rows))


def listing(records: Records) -> Table:
    """The single answers, those furthest from the expected similarity first."""
    first = measures_of(records)[0]
    pairs = [pair for record in records for pair in record.pairs if pair.standing in _SETTLED]
    rows = tuple(
        (
            str(pair.standing),
            f"{pair.mutation}, line {pair.line}",
            pair.original,
            pair.answer,
            pair.similarity[first],
        )
        for pair in sorted(pairs, key=lambda pair: _value(pair, first))[:FEW]
    )
    return Table("answers", ("change", "", "before", "after", first), rows, "the most informative first")


def _pairs(records: Records, standing: Standing) -> list[AnswerPair]:
    return [pair for record in records for pair in record.pairs if pair.standing is standing]


def _value(pair: AnswerPair, measure: str) -> float:
    alike = pair.similarity[measure]
    return alike if pair.standing is Standing.PRESERVING else 1 - alike


def measures_of(records: Records) -> list[str]:
    """The similarities in all records: some may come from runs without an encoder."""
    return [
        measure for measure in records[0].measures if all(measure in record.measures for record in records)
    ]
