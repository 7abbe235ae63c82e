"""Confidence on a corpus as plain data for `--json`. The keys are a contract: added to, never renamed."""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.metrics.bootstrap import IntervalEstimate
from counterlens.metrics.corpus import CorpusConfidence, Median
from counterlens.models.base import ModelInfo
from counterlens.reports.export import json as plain


def corpus(
    found: CorpusConfidence, info: ModelInfo, paths: Sequence[str], skipped: Sequence[tuple[str, str]]
) -> plain.Json:
    """The global aggregation of some files, and what was left out."""
    bits = found.bits_per_byte
    return {
        "model": info.id,
        "model_info": plain.model(info),
        "files": list(paths),
        "skipped": [{"path": path, "reason": reason} for path, reason in skipped],
        "tokens": found.tokens,
        "seed": found.seed,
        "resamples": found.resamples,
        "concepts": {category: _median(median) for category, median in found.categories.items()},
        "all": _median(found.whole) if found.whole else None,
        "bits_per_byte": {"value": bits.value, "interval": _interval(bits)} if bits else None,
    }


def _median(found: Median) -> plain.Json:
    return {
        "median": found.value,
        "interval": _interval(found),
        "snippets": found.snippets,
        "files": found.files,
    }


def _interval(found: IntervalEstimate) -> list[float | None] | None:
    return None if found.low is None else [found.low, found.high]
