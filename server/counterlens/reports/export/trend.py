"""A trend, for programs."""

from __future__ import annotations

from dataclasses import asdict

from counterlens.evaluation.trend import Trend, TrendPoint
from counterlens.probes.record import SCHEMA
from counterlens.reports.export.json import Json


def trend_document(found: Trend) -> Json:
    """Several runs in chronological order: each point with its intervals, or why it is not connected."""
    return {
        "schema": SCHEMA,
        "ordered": found.ordered,
        "across": list(found.across),
        "runs": [asdict(run) for run in found.runs],
        "lines": [
            {"task": line.task, "model": line.model, "points": [_point(one) for one in line.points]}
            for line in found.lines
        ],
    }


def _point(one: TrendPoint) -> Json:
    return {
        "run": one.run.name,
        "average_mutation_effect": asdict(one.summary.average),
        "uncontested": asdict(one.summary.uncontested) if one.summary.uncontested else None,
        "originals_right": asdict(one.summary.original_accuracy),
        "informative_pairs": one.informative,
        "pairs": one.summary.pairs,
        "functions": one.summary.functions,
        "connected": one.connected,
        "apart": list(one.apart),
        "effect_moved": None if one.effect is None else asdict(one.effect),
        "right_moved": None if one.right is None else asdict(one.right),
    }
