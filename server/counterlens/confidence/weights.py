"""Measures of how surprising a leaf is, compared in docs/localisation.md.

Surprise is relative to the usual: names surprise a model more than brackets do. Relative weights measure how
far a leaf lies above the median of its concept category in this document, in robust standard deviations. For
rare categories the whole document is a prior, and for short documents a constant is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from counterlens.confidence.leaves import Floats, Integers, Leaves

Weight = Callable[[Leaves], Floats]
"""A measure of how surprising each of m leaves is: (m,) numbers, larger for more surprising."""

_LEAN = 8.0
"""Weight of the wider prior, in leaves."""

_TO_DEVIATION = 1.4826
"""Median absolute deviation to standard deviation, for a normal distribution."""

_USUAL_SPREAD = 2.0
"""Bits: the usual deviation; the usual value itself is taken as 0."""

_LEAST_SPREAD = 1.0
"""Bits: minimum deviation, so that a small surprise in an almost certain category stays small."""


def raw(rows: Leaves) -> Floats:
    """The surprisal of the leaf's least likely token: the lowest probabilities first."""
    return rows.bits


def lead(rows: Leaves) -> Floats:
    """The model's preference for its first choice, in bits: the log-odds of the best alternative."""
    return rows.lead


def unforeseen(rows: Leaves) -> Floats:
    """Surprisal beyond the entropy, which is the surprisal that the model itself expected."""
    return rows.bits - rows.entropy


def relative(rows: Leaves) -> Floats:
    """Surprisal, relative to the category."""
    return above_usual(rows.bits, rows.category)


def relative_lead(rows: Leaves) -> Floats:
    """The lead of the first choice, relative to the category."""
    return above_usual(rows.lead, rows.category)


def excess(rows: Leaves) -> Floats:
    """Surprisal beyond the entropy, relative to the category."""
    return above_usual(unforeseen(rows), rows.category)


WEIGHTS: Mapping[str, Weight] = MappingProxyType(
    {
        "raw": raw,
        "lead": lead,
        "unforeseen": unforeseen,
        "relative": relative,
        "relative lead": relative_lead,
        "excess": excess,
    }
)
"""All measures, by name."""


def above_usual(bits: Floats, category: Integers) -> Floats:
    """(m,) robust z-scores within each category, with the document as prior, and for that a constant."""
    middle, spread = _usual(bits, 0.0, _USUAL_SPREAD)
    result = np.empty(len(bits))
    for one in np.unique(category).tolist():
        mine = category == one
        usual, deviation = _usual(bits[mine], middle, spread)
        result[mine] = (bits[mine] - usual) / max(deviation, _LEAST_SPREAD)
    return result


def _usual(bits: Floats, prior: float, prior_spread: float) -> tuple[float, float]:
    """Median and robust deviation, drawn towards a prior if the values are few."""
    if not len(bits):
        return prior, prior_spread
    middle = float(np.median(bits))
    spread = _TO_DEVIATION * float(np.median(np.abs(bits - middle)))
    share = len(bits) / (len(bits) + _LEAN)
    return share * middle + (1 - share) * prior, share * spread + (1 - share) * prior_spread
