"""The cells of the operator probe's tables: groups of pairs, and their figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from counterlens.metrics.bootstrap import Estimate, pooled_mean
from counterlens.metrics.effects import Proportion, pooled_share
from counterlens.metrics.guessing import Chance, Guess, PerCandidate, by_chance
from counterlens.metrics.table import Cell
from counterlens.probes.operator.forms import SwapForm
from counterlens.probes.operator.pairs import CHANGES
from counterlens.probes.operator.record import COMPLETE, OperatorAnswer, OperatorPair, OperatorRecord, Window
from counterlens.syntax.operators import Family

Records = Sequence[OperatorRecord]
Answers = Sequence[tuple[str, OperatorAnswer]]
"""Answers, each with its function."""
Pairs = Sequence[tuple[str, OperatorPair]]
"""Pairs, each with its function."""
PAIR_COLUMNS = ("n", "original", "transformed", "both", "NLL", "NLL after", "entropy", "entropy after")
MEASURES = (
    "NLL: the negative log-likelihood of the right operator among the candidates (entropy in Ahmed et al. "
    "2024); entropy: of the candidates; both in nats"
)
SIDES: Mapping[str, Callable[[OperatorPair], OperatorAnswer]] = {
    "before": lambda pair: pair.original,
    "after": lambda pair: pair.transformed,
}


def pairs_of(records: Records, change: str, window: Window = COMPLETE) -> list[tuple[str, OperatorPair]]:
    """The pairs of one change and one window."""
    return [
        (record.target, pair)
        for record in records
        for pair in record.pairs
        if pair.change == change and pair.window == window
    ]


def row_of(pair: OperatorPair) -> str:
    """The title of the row of a pair.

    Swaps of branches are grouped by the construct that the operator decides, and by whether it is one of the
    six comparisons.
    """
    change, family = CHANGES[pair.change], pair.original.family
    if not change.by_branches:
        return change.title
    what = {SwapForm.IF_ELSE: "", None: ", of any form"}.get(pair.form, f", {pair.form}")
    return f"{change.title}{what}" + ("" if family is Family.COMPARISON else f", {family}")


def place_of(pair: OperatorPair) -> tuple[int, int, int]:
    """The place of this row; among swaps of branches, those of the paper come first."""
    kind = [*Family].index(pair.original.family), [*SwapForm, None].index(pair.form)
    return [*CHANGES].index(pair.change), *(kind if CHANGES[pair.change].by_branches else (0, 0))


def groups(pairs: Pairs) -> Mapping[str, Pairs]:
    """The pairs by their row."""
    rows: dict[str, list[tuple[str, OperatorPair]]] = {}
    for target, pair in sorted(pairs, key=lambda row: place_of(row[1])):
        rows.setdefault(row_of(pair), []).append((target, pair))
    return rows


def share(asked: Answers) -> Proportion:
    """The share of gaps whose likeliest candidate is right; gaps of one function are correlated."""
    return pooled_share((target, answer.correct) for target, answer in asked)


def mean_entropy(asked: Answers) -> Estimate:
    """The mean entropy in nats, with an interval over functions."""
    return pooled_mean(((target, answer.entropy) for target, answer in asked), least=0)


def mean_nll(asked: Answers) -> Estimate:
    """The mean negative log-likelihood of the right operator in nats, with an interval over functions."""
    values = ((target, answer.nll) for target, answer in asked)
    return pooled_mean(((target, nll) for target, nll in values if nll is not None), least=0)


def compare(
    asked: Answers, frequency: Mapping[str, float], seed: int, *, unseen: float = 1.0
) -> tuple[Chance, dict[str, PerCandidate]] | None:
    """Answers compared with guessing by frequency, as `by_chance`; None without answers."""
    guesses = [Guess(answer.operator, answer.predicted, answer.candidates) for _, answer in asked]
    return by_chance(guesses, frequency, seed=seed, unseen=unseen)


def side_of(pairs: Pairs, side: str) -> Answers:
    """The answers of some pairs, `before` or `after` the change."""
    return [(target, SIDES[side](pair)) for target, pair in pairs]


def pair_cells(pairs: Pairs, _seed: int = 0) -> tuple[Cell, ...]:
    """The figures of some pairs, by `PAIR_COLUMNS`."""
    before, after = side_of(pairs, "before"), side_of(pairs, "after")
    return (
        len(pairs),
        share(before),
        share(after),
        pooled_share((target, pair.both) for target, pair in pairs),
        mean_nll(before),
        mean_nll(after),
        mean_entropy(before),
        mean_entropy(after),
    )
