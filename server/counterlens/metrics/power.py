"""The smallest difference that a number of functions can show.

Each function counts as one observation, because its pairs are correlated, and gives a paired outcome: with
one model and with another, or with the change and without it. If the outcomes of a share d of the functions
differ, a difference of x is detected with probability `POWER` by a two-sided test at 5 % from

    n = (z(0.975) sqrt(d) + z(POWER) sqrt(d - x^2))^2 / x^2

functions on (Connor 1987, "Sample size for testing differences in proportions for the paired-sample design").
"""

from __future__ import annotations

import math
from statistics import NormalDist

POWER = 0.8
"""The probability of detecting a difference of that size."""
DISCORDANT = 0.5
"""Default share of functions whose outcomes differ: that of two coin tosses."""

_BETWEEN = NormalDist().inv_cdf(0.975)
_TOLD = NormalDist().inv_cdf(POWER)


def functions_needed(difference: float, discordant: float = DISCORDANT) -> int:
    """The number of functions needed to detect a difference of two shares.

    Args:
        difference: Above 0, at most `discordant`.
        discordant: The share of functions whose outcomes differ.
    """
    spread = _BETWEEN * math.sqrt(discordant) + _TOLD * math.sqrt(discordant - difference**2)
    return math.ceil((spread / difference) ** 2)


def detectable_difference(functions: int, discordant: float = DISCORDANT) -> float | None:
    """The smallest difference of two shares that a number of functions can show; None if they show none."""
    if functions < 1 or functions_needed(discordant, discordant) > functions:
        return None
    low, high = 0.0, discordant
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if functions_needed(middle, discordant) <= functions else (middle, high)
    return high
