"""Calibrations and correctness maps, for programs, and the judged completions that maps are fitted on.

Keys may be added, but never renamed.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec

from counterlens.atomic_file import replace_file
from counterlens.calibration.correctness import CorrectnessResult
from counterlens.calibration.fitting import CalibrationResult
from counterlens.calibration.outcomes import JudgedCompletion
from counterlens.confidence import Confidence
from counterlens.confidence.calibration import Calibration, calibrate, fits
from counterlens.errors import CounterlensError
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
        "difference": {"brier": asdict(result.difference), "functions": result.units},
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


def _quality(quality: Quality) -> Json:
    return {
        "nodes": quality.n,
        "right": quality.right,
        "brier": asdict(quality.brier),
        "ece": asdict(quality.ece),
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


def correctness_json(result: CorrectnessResult, kept: Path | None) -> Json:
    """All results; `kept` is the path of the maps, if they were stored."""
    return {
        "kind": "correctness",
        "maps": msgspec.to_builtins(result.maps),
        "completions": result.completions,
        "functions": result.functions,
        "fixed_by": result.fixed_by,
        "left_out": result.left_out,
        "file": str(kept) if kept else None,
    }


def write_observations(path: Path, completions: Sequence[JudgedCompletion]) -> None:
    """Write judged completions as JSON lines, compressed: figures can be computed from them without a model.

    Raises:
        CounterlensError: the file cannot be written.
    """
    lines = [
        json.dumps(
            {
                "function": each.function,
                "sample": each.sample,
                "passed": each.passed,
                "fixed_by": each.fixed_by,
                "logprobs": [round(value, 4) for value in each.logprobs.tolist()],
                "statements": [
                    [part.kind, part.right, [round(value, 4) for value in part.logprobs.tolist()]]
                    for part in each.statements
                ],
            },
            separators=(",", ":"),
        )
        for each in completions
    ]
    try:
        replace_file(path, gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))
    except OSError as error:
        raise CounterlensError(
            f"{path} cannot be written: {error.strerror}", "Choose another file with --records"
        ) from error
