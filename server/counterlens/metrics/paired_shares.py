"""Two shares over the same units: their difference with its interval, and McNemar's test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from counterlens.metrics.bootstrap import Estimate, pooled_mean
from counterlens.metrics.effects import Proportion, wilson
from counterlens.metrics.summary import mcnemar_exact


@dataclass(frozen=True, slots=True)
class PairedShares:
    """Two conditions for the same units.

    Attributes:
        n: Number of units with both conditions.
        first: The share of right units in the first condition.
        second: The share of right units in the second condition.
        difference: Second minus first, between -1 and 1.
        gained: Number of units right in the second condition only.
        lost: Number of units right in the first condition only.
        p: p value of McNemar's exact test; None if no unit differs.
    """

    n: int
    first: Proportion
    second: Proportion
    difference: Estimate
    gained: int
    lost: int
    p: float | None


def paired_shares(first: Mapping[str, bool], second: Mapping[str, bool]) -> PairedShares:
    """Compare two conditions, on the units that have both.

    Args:
        first: Whether each unit is right, by name; units are independent.
        second: The same in the second condition.
    """
    both = sorted(first.keys() & second.keys())
    gained = sum(second[unit] and not first[unit] for unit in both)
    lost = sum(first[unit] and not second[unit] for unit in both)
    differences = ((unit, float(second[unit]) - float(first[unit])) for unit in both)
    return PairedShares(
        len(both),
        wilson(sum(first[unit] for unit in both), len(both)),
        wilson(sum(second[unit] for unit in both), len(both)),
        pooled_mean(differences, bounds=(-1.0, 1.0)),
        gained,
        lost,
        mcnemar_exact(lost, gained),
    )
