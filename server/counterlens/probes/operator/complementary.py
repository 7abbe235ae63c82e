"""Complementary operators as in Hooda et al. 2024, Table 3: frequency, and the cost of a substitution.

A model that follows frequency loses more if the rarer operator of a pair replaces the more frequent one than
vice versa.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from counterlens.metrics.bootstrap import Estimate, pooled_mean
from counterlens.metrics.effects import Effect
from counterlens.metrics.table import Cell, Table
from counterlens.probes.pairs.published import COMPLEMENTS

COLUMNS = ("op A", "op B", "ratio", "Δ(A→B)", "Δ(B→A)", "n A→B", "n B→A", "A : B")
"""The paper's five columns, in its order; then the numbers of pairs, and the counts behind the ratio."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """One operator that was replaced by its complement.

    Attributes:
        target: The id of the function.
        before: The original operator.
        after: The complementary one.
        original: Whether the model was right before.
        counterfactual: Whether it was right after.
    """

    target: str
    before: str
    after: str
    original: bool
    counterfactual: bool

    @property
    def effect(self) -> Effect:
        """The mutation effect."""
        return Effect(self.original, self.counterfactual)


@dataclass(frozen=True, slots=True)
class Direction:
    """The cost of one substitution.

    Attributes:
        n: Number of judged substitutions.
        drop: Mean of A(original) - A(counterfactual), with an interval over functions.
    """

    n: int
    drop: Estimate


def direction(substitutions: Sequence[Substitution], before: str, after: str) -> Direction:
    """The cost of replacing one operator by another, over all judged pairs."""
    judged = [made for made in substitutions if (made.before, made.after) == (before, after)]
    drops = ((made.target, -made.effect.signed) for made in judged)
    return Direction(len(judged), pooled_mean(drops, bounds=(-1, 1)))


def complementary(
    substitutions: Sequence[Substitution], frequency: Mapping[str, float], *, what: str
) -> Table:
    """The pairs of operators with substitutions.

    Args:
        substitutions: The judged substitutions.
        frequency: Count of each operator in the corpus.
        what: The noun for the lost items, such as `correct completions`.
    """
    rows = [_row(substitutions, frequency, pair) for pair in COMPLEMENTS]
    note = (
        f"ratio: how much more frequent A is than B; Δ: {what} lost when one replaces the other, as a "
        "share of the n pairs, with 95 % intervals over functions; below 0 more are gained than lost (the "
        "columns of Hooda et al. 2024, Table 3, which has no intervals)"
    )
    return Table("complementary operators", COLUMNS, tuple(row for row in rows if row[5] or row[6]), note)


def _row(
    substitutions: Sequence[Substitution], frequency: Mapping[str, float], pair: tuple[str, str]
) -> tuple[Cell, ...]:
    a, b = sorted(pair, key=lambda name: (-frequency.get(name, 0), pair.index(name)))
    there, back = direction(substitutions, a, b), direction(substitutions, b, a)
    counts = frequency.get(a, 0), frequency.get(b, 0)
    ratio = counts[0] / counts[1] if counts[1] else None
    return a, b, ratio, there.drop, back.drop, there.n, back.n, f"{counts[0]:.0f} : {counts[1]:.0f}"
