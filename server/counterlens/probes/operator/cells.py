"""The cells of the operator probe's tables: groups of pairs, and their figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from counterlens.metrics.bootstrap import Estimate, pooled_mean
from counterlens.metrics.effects import Proportion, pooled_share
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
_Kind = tuple[SwapForm | None, Family]


def pairs_of(records: Records, change: str, window: Window = COMPLETE) -> list[tuple[str, OperatorPair]]:
    """The pairs of one change and one window."""
    return [
        (record.target, pair)
        for record in records
        for pair in record.pairs
        if pair.change == change and pair.window == window
    ]


def groups(change: str, pairs: Pairs) -> Mapping[str, Pairs]:
    """The pairs of one change by the title of their row.

    Swaps of branches are grouped by the construct that the operator decides, and by whether it is one of the
    six comparisons. The swaps of the paper come first; it has no others.
    """
    title = CHANGES[change].title
    if not CHANGES[change].by_branches:
        return {title: pairs} if pairs else {}
    kinds = {_kind(pair) for _, pair in pairs}
    return {
        f"{title}{_suffix(kind)}": [(target, pair) for target, pair in pairs if _kind(pair) == kind]
        for kind in sorted(kinds, key=_order)
    }


def _kind(pair: OperatorPair) -> _Kind:
    return pair.form, pair.original.family


def _order(kind: _Kind) -> tuple[int, int]:
    form, family = kind
    return [*Family].index(family), [*SwapForm, None].index(form)


def _suffix(kind: _Kind) -> str:
    form, family = kind
    what = {SwapForm.IF_ELSE: "", None: ", of any form"}.get(form, f", {form}")
    return what if family is Family.COMPARISON else f"{what}, {family}"


def share(asked: Answers) -> Proportion:
    """The share of gaps whose likeliest candidate is right; gaps of one function are correlated."""
    return pooled_share((target, answer.correct) for target, answer in asked)


def mean_entropy(asked: Answers) -> Estimate:
    """The mean entropy in nats, with an interval over functions."""
    return pooled_mean(((target, answer.entropy) for target, answer in asked), least=0)


def mean_nll(asked: Answers) -> Estimate:
    """The mean negative log-likelihood of the right operator in nats, with an interval over functions."""
    known = _known_values((target, answer.nll) for target, answer in asked)
    return pooled_mean(known, least=0)


def side_of(pairs: Pairs, side: str) -> Answers:
    """The answers of some pairs, `before` or `after` the change."""
    return [(target, SIDES[side](pair)) for target, pair in pairs]


def pair_cells(pairs: Pairs) -> tuple[Cell, ...]:
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


def _known_values(values: Iterable[tuple[str, float | None]]) -> list[tuple[str, float]]:
    return [(target, value) for target, value in values if value is not None]
