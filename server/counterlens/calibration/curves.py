"""Fits calibration curves (isotonic: Zadrozny and Elkan 2002; Platt 1999), and evaluates them.

A map is evaluated on functions outside its fit: the functions are split into halves, and each half is mapped
by the curves of the other. The stored map is then fitted on all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from counterlens.confidence.aggregate import Aggregation
from counterlens.confidence.calibration import EVERYTHING, LENGTHS, Calibration, Curve
from counterlens.errors import CounterlensError
from counterlens.metrics.calibration import Floats, Observations

LEAST_NODES = 100
"""A category, or a length in it, with fewer nodes has no separate curve."""

_ENOUGH_FOR_ISOTONIC = 1000
"""Isotonic regression has an unlimited number of parameters, and overfits on less (Niculescu-Mizil 2005)."""

_SMALLEST = 1e-6

_MOST_ODDS = 30.0
"""The largest log-odds of a curve; 1 / (1 + exp(-40)) is 1 in floating point."""


class Method(StrEnum):
    """The method of fitting; automatic: isotonic from 1,000 nodes on, else Platt's."""

    AUTOMATIC = "automatic"
    ISOTONIC = "isotonic"
    PLATT = "platt"


def require_statistics() -> None:
    """Report early, with a hint, that the fitting library is missing.

    Raises:
        CounterlensError: scikit-learn is not installed.
    """
    try:
        import sklearn  # noqa: F401 - whether it is there
    except ImportError:
        raise CounterlensError(
            "calibration needs scikit-learn, which is not installed",
            "Install it with: pip install 'counterlens[statistics]'",
        ) from None


def fit_curve(confidence: Floats, right: Floats, method: Method = Method.AUTOMATIC) -> Curve:
    """The monotone curve from n confidences to the share of right predictions; n is 1 or more.

    Neither method reaches 0 or 1: n nodes cannot show a share below 1 / (n + 2).
    """
    n = len(confidence)
    if method is Method.AUTOMATIC:
        method = Method.ISOTONIC if n >= _ENOUGH_FOR_ISOTONIC else Method.PLATT
    return _isotonic(confidence, right) if method is Method.ISOTONIC else _platt(confidence, right)


def fit(seen: Observations, method: Method = Method.AUTOMATIC, least: int = LEAST_NODES) -> dict[str, Curve]:
    """The curves of a map: for all nodes, and for each category and length with enough of them."""
    curves = {EVERYTHING: fit_curve(seen.confidence, seen.right, method)}
    for key, mask in _kinds(seen):
        if mask.sum() >= least:
            curves[key] = fit_curve(seen.confidence[mask], seen.right[mask], method)
    return curves


def cross_fitted(
    seen: Observations, method: Method = Method.AUTOMATIC, least: int = LEAST_NODES, seed: int = 0
) -> Floats:
    """(n,) confidences, each mapped by curves fitted without its function.

    Raises:
        CounterlensError: all nodes are of one function.
    """
    groups = np.unique(seen.group)
    if len(groups) < 2:
        raise CounterlensError(
            "calibration needs nodes of at least two functions: one to fit on, one to report on",
            "Give more files, or a folder",
        )
    shuffled = np.random.default_rng(seed).permutation(groups)
    first = np.isin(seen.group, shuffled[: len(groups) // 2])
    mapped = np.empty(len(seen))
    for half in (first, ~first):
        curves = fit(seen.where(~half), method, least)
        mapped[half] = apply(curves, seen.where(half))
    return mapped


def apply(curves: dict[str, Curve], seen: Observations) -> Floats:
    """(n,) confidences after the curves."""
    calibration = Calibration("", "", Aggregation.MEAN, curves)
    nodes = zip(seen.category.tolist(), seen.confidence.tolist(), seen.tokens.tolist(), strict=True)
    return np.array([calibration.apply(*node) for node in nodes], np.float64)


def _kinds(seen: Observations) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    """The keys of `calibration.keys_of`, with a mask of the nodes of each."""
    lengths = {
        least: (seen.tokens >= least) & (seen.tokens < following)
        for least, following in zip(LENGTHS, [*LENGTHS[1:], np.inf], strict=True)
    }
    for least, mask in lengths.items():
        yield f"{EVERYTHING}/{least}", mask
    for category in np.unique(seen.category).tolist():
        mine = seen.category == category
        yield category, mine
        for least, mask in lengths.items():
            yield f"{category}/{least}", mine & mask


def _isotonic(confidence: Floats, right: Floats) -> Curve:
    from sklearn.isotonic import IsotonicRegression

    n = len(confidence)
    margin = 1 / (n + 2)
    fitted = IsotonicRegression(y_min=margin, y_max=1 - margin, out_of_bounds="clip").fit(confidence, right)
    x, y = fitted.X_thresholds_, np.maximum.accumulate(fitted.y_thresholds_)
    return Curve(n, tuple(x.tolist()), tuple(y.tolist()))


def _platt(confidence: Floats, right: Floats) -> Curve:
    from sklearn.linear_model import LogisticRegression

    n, hits = len(confidence), float(right.sum())
    # Platt's targets: the truth, less certain by one node of each kind.
    target = np.where(right > 0, (hits + 1) / (hits + 2), 1 / (n - hits + 2))
    likely = np.clip(confidence, _SMALLEST, 1 - _SMALLEST)
    odds = np.log(likely / (1 - likely))
    rows = np.concatenate([odds, odds])[:, None]
    truth = np.concatenate([np.ones(n), np.zeros(n)])
    fitted = LogisticRegression(C=1e6, max_iter=1000).fit(
        rows, truth, sample_weight=np.concatenate([target, 1 - target])
    )
    slope, offset = float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
    if slope < 0:  # a falling curve means that confidence has no meaning: use the share instead
        mean = float(target.mean())
        slope, offset = 0.0, float(np.log(mean / (1 - mean)))
    # Few cleanly separated nodes give a step: as steep as values strictly between 0 and 1 allow.
    excess = (slope * float(np.log((1 - _SMALLEST) / _SMALLEST)) + abs(offset)) / _MOST_ODDS
    if excess > 1:
        slope, offset = slope / excess, offset / excess
    return Curve(n, slope=slope, offset=offset)
