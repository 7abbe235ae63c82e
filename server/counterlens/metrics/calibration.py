"""Calibration of confidences: Brier score, expected calibration error, reliability.

A confidence of 0.8 is calibrated if 8 of 10 nodes with it are predicted correctly. Nodes of one function are
correlated, so intervals come from a bootstrap over functions, not over nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterlens.metrics.bootstrap import IntervalEstimate, expanded_percentiles

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

BINS = 10
"""Bins of equal width, as in a usual reliability diagram."""

ROUNDS = 1000
"""Number of bootstrap samples for an interval."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The nodes with a confidence from `low` to `high`.

    Attributes:
        low: Lower end of the bin.
        high: Upper end of the bin.
        n: Number of nodes in it.
        confidence: Their mean confidence; NaN if there are none.
        right: Share of them that is predicted correctly; NaN if there are none.
    """

    low: float
    high: float
    n: int
    confidence: float
    right: float


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of some confidences.

    Attributes:
        n: Number of nodes.
        right: Share of them that is predicted correctly.
        brier: Mean squared difference from the truth (Brier 1950): 0 is best, and constant confidences of one
            half give 0.25.
        ece: Expected calibration error (Naeini et al. 2015): the mean distance between confidence and share
            in the bins, weighted by their numbers of nodes.
        bins: The reliability diagram.
    """

    n: int
    right: float
    brier: IntervalEstimate
    ece: IntervalEstimate
    bins: tuple[Bin, ...]


def quality(
    confidence: Floats, right: Floats, group: Integers, *, seed: int = 0, rounds: int = ROUNDS
) -> Quality:
    """Measure n confidences against the truth, with intervals over their groups.

    Args:
        confidence: (n,) 0 to 1; n is 1 or more.
        right: (n,) 1.0 or 0.0.
        group: (n,) the unit of resampling of each node.
        seed: Random seed of the bootstrap.
        rounds: Number of bootstrap samples.
    """
    sums = _by_group(confidence, right, group)
    all_of_it = sums.sum(axis=0, keepdims=True)
    samples = np.tensordot(_draw(len(sums), seed, rounds), sums, axes=1)
    total = all_of_it[0]
    count = np.maximum(total[0], 1)
    edges = np.linspace(0, 1, BINS + 1).tolist()
    bins = tuple(
        Bin(
            edges[i],
            edges[i + 1],
            int(total[0, i]),
            float(total[1, i] / count[i]) if total[0, i] else float("nan"),
            float(total[2, i] / count[i]) if total[0, i] else float("nan"),
        )
        for i in range(BINS)
    )
    return Quality(
        n=len(confidence),
        right=float(right.mean()),
        brier=_estimate(_brier(all_of_it), _brier(samples), len(sums)),
        ece=_estimate(_ece(all_of_it), _ece(samples), len(sums)),
        bins=bins,
    )


def brier_skill(
    predicted: Floats, right: Floats, group: Integers, *, seed: int = 0, rounds: int = ROUNDS
) -> IntervalEstimate:
    """The Brier skill score of n probabilities over the base rate (Murphy 1973): 1 is perfect, 0 is no skill.

    The reference is the share that is right among the same pieces, so a constant has a skill of at most 0.

    Args:
        predicted: (n,) 0 to 1; n is 1 or more.
        right: (n,) 1.0 or 0.0.
        group: (n,) the unit of resampling of each piece.
        seed: Random seed of the bootstrap.
        rounds: Number of bootstrap samples.
    """
    _, place = np.unique(group, return_inverse=True)
    columns = (np.ones(len(right)), right, (predicted - right) ** 2)
    sums = np.stack([np.bincount(place, column) for column in columns], axis=1)
    drawn = _draw(len(sums), seed, rounds) @ sums
    return _estimate(_skill(sums.sum(axis=0, keepdims=True)), _skill(drawn), len(sums))


def _skill(sums: Floats) -> Floats:
    """(m,) skill scores of m samples of (number, number right, squared errors); 0 if all are alike."""
    n = np.maximum(sums[:, 0], 1)
    share = sums[:, 1] / n
    spread = share * (1 - share)
    skill: Floats = np.where(spread > 0, 1 - sums[:, 2] / n / np.where(spread > 0, spread, 1), 0.0)
    return skill


def auroc(
    value: Floats, right: Floats, group: Integers, *, seed: int = 0, rounds: int = ROUNDS
) -> IntervalEstimate:
    """The probability that a right piece has a higher value than a wrong one: the area under the ROC curve.

    Ties count one half; 0.5 if all pieces are right, or all wrong.

    Args:
        value: (n,) n is 1 or more.
        right: (n,) 1.0 or 0.0.
        group: (n,) the unit of resampling of each piece.
        seed: Random seed of the bootstrap.
        rounds: Number of bootstrap samples.
    """
    _, place = np.unique(group, return_inverse=True)
    _, rank = np.unique(value, return_inverse=True)
    weights = np.concatenate([np.ones((1, place.max() + 1)), _draw(int(place.max()) + 1, seed, rounds)])
    areas = np.array([_area(rank, right, row[place]) for row in weights])
    return _estimate(areas[:1], areas[1:], weights.shape[1])


def _area(rank: Integers, right: Floats, weight: Floats) -> float:
    positive, negative = np.bincount(rank, weight * right), np.bincount(rank, weight * (1 - right))
    both = positive.sum() * negative.sum()
    below = np.cumsum(negative) - negative / 2
    return float((positive * below).sum() / both) if both else 0.5


def _draw(groups: int, seed: int, rounds: int) -> Floats:
    """(rounds, groups): number of times that each group is in each bootstrap sample."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(groups, np.full(groups, 1 / groups), size=rounds).astype(np.float64)


def _by_group(confidence: Floats, right: Floats, group: Integers) -> Floats:
    """(groups, 4, BINS): for each bin the number of nodes, and sums of confidence, truth, squared error."""
    _, place = np.unique(group, return_inverse=True)
    column = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    groups = int(place.max()) + 1
    values = (np.ones(len(confidence)), confidence, right, (confidence - right) ** 2)
    flat = [np.bincount(place * BINS + column, value, minlength=groups * BINS) for value in values]
    return np.stack([sums.reshape(groups, BINS) for sums in flat], axis=1)


def _brier(sums: Floats) -> Floats:
    result: Floats = sums[:, 3].sum(axis=1) / np.maximum(sums[:, 0].sum(axis=1), 1)
    return result


def _ece(sums: Floats) -> Floats:
    result: Floats = np.abs(sums[:, 1] - sums[:, 2]).sum(axis=1) / np.maximum(sums[:, 0].sum(axis=1), 1)
    return result


def _estimate(value: Floats, samples: Floats, groups: int) -> IntervalEstimate:
    interval = expanded_percentiles(samples.tolist(), groups)
    return IntervalEstimate(float(value[0]), *(interval or (None, None)))
