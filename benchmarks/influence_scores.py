"""Estimators of dependence from reactions, and baselines without a model."""

from __future__ import annotations

from collections.abc import Callable

from influence_cases import Case, Change, Pair

from counterlens.probes.dependence import record
from counterlens.probes.dependence.estimators import (
    FIRST_TOKENS,
    PairScores,
    control_scores,
    data_scores,
    known_drops,
    largest,
    minus_placebo,
    peak,
)
from counterlens.probes.dependence.examined import NameRole, Relation

Score = Callable[[Case], PairScores]


def recurs(case: Case, pair: Pair) -> bool:
    """Whether b reads a name that a binds."""
    return record.recurs(case.subject, pair)


def visible(case: Case, pair: Pair) -> bool:
    """Whether b reads a name that a binds and that no line in between binds again."""
    source, target = pair
    parts = case.subject.parts
    names = {read.name for read in parts[target].reads}
    names &= parts[source].binds
    for part in parts[source + 1 : target]:
        names -= {one.name for one in part.occurrences if one.role is NameRole.BOUND}
    return bool(names)


def encloses(case: Case, pair: Pair) -> bool:
    """Whether a is the innermost header around b, by indentation."""
    return pair in record.pairs_by_rule(case.subject, Relation.CONTROL)


def on(pairs: Score, value: Callable[[Case, Pair], float]) -> Score:
    """A baseline on the pairs of an estimator."""
    return lambda case: {pair: float(value(case, pair)) for pair in pairs(case)}


def blind(kind: Change) -> Score:
    """The largest drop at any token of b."""
    return lambda case: {
        (one.source, one.target): peak(known_drops(one.drops)) for one in case.reactions if one.kind is kind
    }


def first(kind: Change) -> Score:
    """The largest change among b's first tokens, without placebo."""
    return lambda case: {
        (one.source, one.target): largest(known_drops(one.drops[:FIRST_TOKENS]))
        for one in case.reactions
        if one.kind is kind
    }


def data(case: Case) -> PairScores:
    return data_scores(case.subject, case.reactions)


def control(case: Case) -> PairScores:
    return control_scores(case.reactions)


def distance(_: Case, pair: Pair) -> float:
    return pair[0] - pair[1]


DATA: dict[str, Score] = {
    "hide, reads": data,
    "hide, reads, minus placebo": lambda case: minus_placebo(data(case)),
    "hide, largest drop": blind(Change.HIDE),
    "rename, reads": lambda case: data_scores(case.subject, case.reactions, Change.RENAME),
    "rename, largest drop": blind(Change.RENAME),
    "other value, reads": on(data, lambda case, pair: _replaced(case).get(pair, 0.0)),
    "baseline: distance": on(data, distance),
    "baseline: name recurs": on(data, recurs),
    "baseline: name visible": on(data, visible),
}
CONTROL: dict[str, Score] = {
    "negate and neutralise": control,
    "without placebo": lambda case: {
        pair: first(Change.NEGATE)(case).get(pair, 0.0) + first(Change.NEUTRALISE)(case).get(pair, 0.0)
        for pair in control(case)
    },
    "negate alone": first(Change.NEGATE),
    "neutralise alone": first(Change.NEUTRALISE),
    "baseline: distance": on(control, distance),
    "baseline: indentation": on(control, encloses),
}


def _replaced(case: Case) -> PairScores:
    return data_scores(case.subject, case.reactions, Change.REPLACE)
