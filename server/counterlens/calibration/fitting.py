"""Fits and evaluates a model's calibration map on code whose truth is known."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from counterlens.calibration.curves import Method, cross_fitted, fit, require_statistics
from counterlens.calibration.measuring import NodeTruth, measure
from counterlens.confidence import Aggregation
from counterlens.confidence.calibration import Calibration
from counterlens.errors import CounterlensError
from counterlens.metrics.bootstrap import IntervalEstimate
from counterlens.metrics.calibration import Floats, Observations, Quality, brier_difference, quality
from counterlens.models.base import Capability, Model
from counterlens.progress import Steps
from counterlens.syntax.document import Document

NODES = {NodeTruth.FILLS: 600, NodeTruth.FIRST_CHOICE: 10_000}
"""Default number of nodes: asking for one costs as much as scoring a function."""
LEAST_FUNCTIONS = 10
"""Minimum number of functions for a bootstrap interval."""


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """The calibration of one model.

    Attributes:
        calibration: The map, fitted on all nodes.
        truth: The criterion of a right prediction.
        method: The method of fitting curves.
        documents: Number of files with the nodes.
        units: Number of functions and other units.
        before: Figures of the raw confidences.
        after: Figures of the mapped confidences; each function is mapped by curves fitted without it.
        difference: Brier score of the mapped confidences minus that of the raw ones, paired by function.
        categories: The same two figures for each concept category.
        agreement: Share of nodes on which both criteria agree; None if only one was evaluated.
        left_out: Reasons why code was not used, with the number of files or functions.
    """

    calibration: Calibration
    truth: NodeTruth
    method: Method
    documents: int
    units: int
    before: Quality
    after: Quality
    difference: IntervalEstimate
    categories: Mapping[str, tuple[Quality, Quality]]
    agreement: float | None
    left_out: Mapping[str, int]

    @property
    def better(self) -> bool:
        """Whether the map improves on raw confidences for functions outside its fit, beyond chance."""
        high = self.difference.high
        return self.units >= LEAST_FUNCTIONS and high is not None and high < 0


def calibrate(
    model: Model,
    documents: Sequence[Document],
    *,
    truth: NodeTruth = NodeTruth.FILLS,
    method: Method = Method.AUTOMATIC,
    aggregation: Aggregation = Aggregation.MEAN,
    nodes: int | None = None,
    seed: int = 0,
    steps: Steps | None = None,
) -> CalibrationResult:
    """Measure how well a model's confidences predict right predictions, and fit a map that corrects them.

    Args:
        model: The model; it must score, and complete unless the truth is `first-choice`.
        documents: Code that is right.
        truth: The criterion of a right prediction.
        method: The method of fitting curves.
        nodes: Minimum number of nodes to evaluate.
        seed: Random seed of the sampled functions and nodes, the halves, and the intervals.
        steps: Progress, in nodes, and cancellation.

    Raises:
        CounterlensError: scikit-learn is missing, or there is too little code.
        ModelError, Cancelled: as `Model.score` and `Model.complete`.
    """
    require_statistics()
    steps = steps or Steps()
    needed = [Capability.SCORE] + ([Capability.COMPLETE] if truth is NodeTruth.FILLS else [])
    for capability in needed:
        if not model.offers(capability, cancel=steps.cancel):
            raise CounterlensError(
                f"{model.info.name} cannot {capability.value}, which calibration needs",
                "Choose a model that returns token probabilities; see counterlens models",
            )
    measurement = measure(
        model,
        documents,
        nodes=nodes or NODES[truth],
        truth=truth,
        aggregation=aggregation,
        seed=seed,
        steps=steps,
    )
    seen = measurement.observations
    if not len(seen):
        why = "; ".join(measurement.unscored) or "it contains no scored nodes"
        raise CounterlensError(f"none of this code could be used: {why}", "Choose other files")
    mapped = cross_fitted(seen, method, seed=seed)
    before, after = _compare(seen, mapped, seed)
    difference = brier_difference(seen.confidence, mapped, seen.right, seen.group, seed=seed)
    categories = {}
    for category in np.unique(seen.category).tolist():
        mine = seen.category == category
        categories[category] = _compare(seen.where(mine), mapped[mine], seed)
    languages = {document.language for document in documents}
    facts = {
        "language": languages.pop() if len(languages) == 1 else None,
        "truth": truth.value,
        "method": method.value,
        "nodes": len(seen),
        "functions": measurement.units,
        "files": measurement.documents,
        "seed": seed,
        "raw": {"brier": before.brier.value, "ece": before.ece.value},
        "calibrated": {"brier": after.brier.value, "ece": after.ece.value},
        "difference": {"brier": difference.value, "low": difference.low, "high": difference.high},
    }
    info = model.info
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    curves = fit(seen, method)
    return CalibrationResult(
        calibration=Calibration(info.identity, info.name, aggregation, curves, today, facts),
        truth=truth,
        method=method,
        documents=measurement.documents,
        units=measurement.units,
        before=before,
        after=after,
        difference=difference,
        categories=categories,
        agreement=measurement.agreement,
        left_out=measurement.unscored,
    )


def _compare(seen: Observations, mapped: Floats, seed: int) -> tuple[Quality, Quality]:
    return (
        quality(seen.confidence, seen.right, seen.group, seed=seed),
        quality(mapped, seen.right, seen.group, seed=seed),
    )
