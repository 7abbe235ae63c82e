"""Confidence in a corpus as plain data for `--json`. Keys are a contract: added to, never renamed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from counterlens.confidence.corpus import CorpusConfidence, Median
from counterlens.metrics.bootstrap import IntervalEstimate
from counterlens.models.base import ModelInfo
from counterlens.reports.export import json as plain


def corpus(
    summed: Mapping[str, CorpusConfidence],
    info: ModelInfo,
    paths: Mapping[str, Sequence[str]],
    skipped: Sequence[tuple[str, str]],
) -> plain.Json:
    """The global aggregation over some files by language, and the skipped files.

    Languages are never pooled, since a model knows one better than another: the figures of all files are
    beside `languages` only if there is one language.

    Args:
        summed: Results by language; at least one.
        skipped: Files that were not scored, with the reasons.
    """
    first, *others = summed.values()
    return {
        "model": info.id,
        "model_info": plain.model(info),
        "files": sorted(path for of_language in paths.values() for path in of_language),
        "skipped": [{"path": path, "reason": reason} for path, reason in skipped],
        "seed": first.seed,
        "resamples": first.resamples,
        **_figures(first),
        **({"concepts": {}, "all": None, "bits_per_byte": None} if others else {}),
        "tokens": sum(each.tokens for each in summed.values()),
        "languages": {
            language: {"files": list(paths[language]), **_figures(each)} for language, each in summed.items()
        },
    }


def _figures(summed: CorpusConfidence) -> plain.Json:
    bits = summed.bits_per_byte
    return {
        "tokens": summed.tokens,
        "concepts": {category: _median(median) for category, median in summed.categories.items()},
        "all": _median(summed.whole) if summed.whole else None,
        "bits_per_byte": {"value": bits.value, "interval": _interval(bits)} if bits else None,
    }


def _median(median: Median) -> plain.Json:
    return {
        "median": median.value,
        "interval": _interval(median),
        "snippets": median.snippets,
        "files": median.files,
    }


def _interval(estimate: IntervalEstimate) -> list[float | None] | None:
    return None if estimate.low is None else [estimate.low, estimate.high]
