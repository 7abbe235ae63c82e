"""The calibration of confidences, for programs. Keys may be added, but never renamed."""

from __future__ import annotations

from pathlib import Path

from counterlens.calibration.fitting import CalibrationResult
from counterlens.confidence import Confidence
from counterlens.confidence.calibration import Calibration, calibrate, fits
from counterlens.metrics.bootstrap import IntervalEstimate
from counterlens.metrics.calibration import Quality
from counterlens.reports.export.json import Json


def calibration_json(result: CalibrationResult, kept: Path | None) -> Json:
    """All results of a calibration; `kept` is the path of the map, if it was stored."""
    return {
        "kind": "calibration",
        "model": {"name": result.calibration.name, "identity": result.calibration.model},
        "aggregation": result.calibration.aggregation.value,
        "truth": result.truth.value,
        "method": result.method.value,
        "documents": result.documents,
        "units": result.units,
        "raw": _quality(result.before),
        "calibrated": _quality(result.after),
        "categories": {
            name: {"raw": _quality(before), "calibrated": _quality(after)}
            for name, (before, after) in result.categories.items()
        },
        "difference": {"brier": _interval(result.difference), "functions": result.units},
        "curves": len(result.calibration.curves),
        "better": result.better,
        "agreement_with_first_choice": result.agreement,
        "left_out": dict(result.left_out),
        "map": str(kept) if kept else None,
    }


def calibrated_json(scored: Confidence, known: Calibration | None) -> Json | None:
    """The calibrated confidences of a document's nodes and concepts; None if there is no map."""
    if known is None or not fits(scored, known):
        return None
    mapped = calibrate(scored, known)
    return {
        "created": known.created,
        "facts": dict(known.facts),
        "concepts": {category: value for category, (value, _) in mapped.concepts.items()},
        "nodes": [node.confidence for node in mapped.nodes],
    }


def _interval(figure: IntervalEstimate) -> Json:
    return {"value": figure.value, "low": figure.low, "high": figure.high}


def _quality(quality: Quality) -> Json:
    return {
        "nodes": quality.n,
        "right": quality.right,
        "brier": _interval(quality.brier),
        "ece": _interval(quality.ece),
        "bins": [
            {
                "low": bucket.low,
                "high": bucket.high,
                "nodes": bucket.n,
                "confidence": bucket.confidence if bucket.n else None,
                "right": bucket.right if bucket.n else None,
            }
            for bucket in quality.bins
        ],
    }
