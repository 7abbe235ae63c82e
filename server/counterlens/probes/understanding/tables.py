"""Robustness and sensitivity as tables, in the layout of Nguyen et al. 2024: Tables 3 to 6 and Figure 7."""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.metrics.bootstrap import Estimate, pooled_mean
from counterlens.mutations import MUTATIONS
from counterlens.mutations.base import Concept
from counterlens.probes.task import Cell, Table
from counterlens.probes.understanding.study import Compared, Study
from counterlens.probes.understanding.versions import Standing

FEW = 16
"""So many answers are listed one by one."""
_KINDS = {
    Standing.PRESERVING: "robustness to preserving changes",
    Standing.BREAKING: "sensitivity to breaking changes",
    Standing.POSSIBLY_EQUIVALENT: "difference after possibly equivalent changes",
    Standing.UNSETTLED: "difference after changes that nothing could be run to judge",
}
_DEPENDENCE = {Concept.CONTROL_FLOW: "control", Concept.DATA_FLOW: "data"}
_TITLES = {"summary": "code summarisation", "name": "method name prediction", "output": "output prediction"}


def score(found: Sequence[Compared], measure: str, *, seed: int = 0) -> Estimate:
    """Mean similarity where the meaning is kept, one less it where it is not; functions are resampled."""
    return pooled_mean(((one.target, _value(one, measure)) for one in found), bounds=(0, 1), seed=seed)


def _value(one: Compared, measure: str) -> float:
    alike = one.similarity[measure]
    return alike if one.standing is Standing.PRESERVING else 1 - alike


def overall(found: Study, question: str, seed: int) -> Table:
    """Tables 3, 4 and 5: a row for each similarity and kind of change."""
    rows: list[tuple[Cell, ...]] = []
    for measure in _measures(found):
        for standing, title in _KINDS.items():
            chosen = [one for one in found.compared if one.standing is standing]
            if chosen:
                functions = len({one.target for one in chosen})
                rows.append((measure, title, len(chosen), functions, score(chosen, measure, seed=seed)))
    columns = ("similarity", "", "n", "functions", "mean")
    note = "robustness: mean similarity of the answers; sensitivity: 1 less it"
    return Table(_TITLES[question], columns, tuple(rows), f"{note}; {found.note}" if found.note else note)


def by_change(found: Study, question: str, seed: int) -> Table:
    """Table 6: a row for each mutation."""
    measures = _measures(found)
    rows: list[tuple[Cell, ...]] = []
    for standing in (Standing.PRESERVING, Standing.BREAKING):
        for name, mutation in MUTATIONS.items():
            chosen = [one for one in found.compared if one.standing is standing and one.mutation == name]
            if chosen:
                kind = "robustness" if standing is Standing.PRESERVING else "sensitivity"
                about = _DEPENDENCE.get(mutation.concept, str(mutation.concept))
                figures = (score(chosen, measure, seed=seed) for measure in measures)
                rows.append((kind, about, name, len(chosen), *figures))
    return Table(f"{_TITLES[question]}, by change", ("", "dependence", "change", "n", *measures), tuple(rows))


def by_correctness(found: Study, question: str, seed: int) -> Table | None:
    """RQ3 (Figure 7): of functions that pass their tests, and of those that do not."""
    if {True, False} - {one.correct for one in found.compared}:
        return None
    measures = _measures(found)
    rows: list[tuple[Cell, ...]] = []
    for standing in (Standing.PRESERVING, Standing.BREAKING):
        for correct in (True, False):
            chosen = [one for one in found.compared if one.standing is standing and one.correct is correct]
            figures = (score(chosen, measure, seed=seed) for measure in measures)
            kind = "robustness" if standing is Standing.PRESERVING else "sensitivity"
            rows.append((kind, "correct" if correct else "incorrect", len(chosen), *figures))
    return Table(
        f"{_TITLES[question]}, by correctness of the code", ("", "code", "n", *measures), tuple(rows)
    )


def listing(found: Study) -> Table:
    """The answers one by one, those that differ most from what they should be first."""
    first = _measures(found)[0]

    def fault(one: Compared) -> float:
        alike = one.similarity[first]
        return alike if one.standing is Standing.BREAKING else 1 - alike

    telling = [one for one in found.compared if one.standing in {Standing.PRESERVING, Standing.BREAKING}]
    shown = sorted(telling, key=fault, reverse=True)[:FEW]
    rows = tuple(
        (
            str(one.standing),
            f"{one.mutation}, line {one.line}",
            one.original,
            one.answer,
            one.similarity[first],
        )
        for one in shown
    )
    return Table("answers", ("change", "", "before", "after", first), rows, "the most telling first")


def _measures(found: Study) -> tuple[str, ...]:
    return tuple(found.compared[0].similarity) if found.compared else ()
