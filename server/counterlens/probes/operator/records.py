"""A study of operators as plain data, and back: what tables are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from counterlens.probes.operator.scoring import OperatorDistribution
from counterlens.probes.operator.study import Asked, AskedPair, Study, Window
from counterlens.syntax.operators import Family, OperatorSite


def plain(found: Study) -> dict[str, Any]:
    """Everything that was asked and answered. The keys are a contract: added to, never renamed."""
    return {
        "targets": list(found.targets),
        "operators": [{"target": one.target, **_distribution(one.distribution)} for one in found.operators],
        "pairs": [_pair(pair) for pair in found.pairs],
    }


def study_of(found: Sequence[Mapping[str, Any]]) -> Study:
    """The studies that `plain` wrote, as one; without what was left out."""
    return Study(
        tuple(target for one in found for target in one["targets"]),
        tuple(Asked(row["target"], _read(row)) for one in found for row in one["operators"]),
        tuple(
            AskedPair(
                row["target"],
                row["change"],
                Window(row["window"]["before"], row["window"]["after"]),
                _read(row["original"]),
                _read(row["transformed"]),
                None if row.get("found") is None else (row["found"][0], row["found"][1]),
            )
            for one in found
            for row in one["pairs"]
        ),
    )


def frequencies(found: Sequence[Mapping[str, Any]]) -> dict[str, float] | None:
    """How often each operator stands in the corpus of some studies; None where none was named."""
    named = [one["frequency"] for one in found if one["corpus"] is not None]
    if named:
        return dict(named[0])
    counted = Counter[str]()
    for one in found:
        counted.update(row["operator"] for row in one["operators"])
    return dict(counted) or None


def _pair(pair: AskedPair) -> dict[str, Any]:
    return {
        "target": pair.target,
        "change": pair.row,
        "window": {"before": pair.window.before, "after": pair.window.after},
        "original": _distribution(pair.original),
        "transformed": _distribution(pair.transformed),
        "both": pair.both,
        "found": list(pair.found) if pair.found is not None else None,
    }


def _distribution(one: OperatorDistribution) -> dict[str, Any]:
    site = one.site
    return {
        "line": site.line,
        "start": site.start,
        "end": site.end,
        "span": list(site.span),
        "text": site.text,
        "family": str(site.family),
        "operator": site.operator,
        "predicted": one.predicted,
        "correct": one.correct,
        "entropy": one.entropy,
        "candidates": list(site.candidates),
        "logprob": {name: float(p) for name, p in zip(site.candidates, one.logprob.tolist(), strict=True)},
        "probability": {
            name: float(p) for name, p in zip(site.candidates, one.probability.tolist(), strict=True)
        },
    }


def _read(row: Mapping[str, Any]) -> OperatorDistribution:
    start, end = row["span"]
    site = OperatorSite(
        start=row["start"],
        end=row["end"],
        operator=row["operator"],
        family=Family(row["family"]),
        candidates=tuple(row["candidates"]),
        line=row["line"],
        span=(start, end),
        text=row["text"],
    )
    return OperatorDistribution(site, np.array([row["logprob"][name] for name in row["candidates"]]))
