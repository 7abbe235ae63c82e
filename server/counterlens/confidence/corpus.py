"""Confidence over a corpus by Counterlens's own definition, after Palacio et al. 2023 (sections III-C, VI-B).

The paper's own aggregation, by node type, is in `metrics/asc_eval.py`.

A snippet is a top-level definition or the code between two: the unit of scoring. Its local value of a
category is the mean confidence of its nodes of that category. The figure of a corpus is the median of its
snippets' values; the interval is a bootstrap of 500 resamples, as many as in the paper, in which whole files
are resampled, because the snippets of one file are correlated (see `metrics/bootstrap.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from counterlens.confidence.aggregate import Confidence, Surprisal
from counterlens.confidence.units import units
from counterlens.metrics.bootstrap import LEAST_CLUSTERS, IntervalEstimate, bootstrap
from counterlens.syntax.concepts import NO_CONCEPTS, Category

RESAMPLES = 500

Floats = npt.NDArray[np.float64]
OfFile = TypeVar("OfFile")


@dataclass(frozen=True)
class FileConfidence:
    """The data of one file in a corpus: the local values of its snippets.

    Attributes:
        categories: For each category that occurs, (s,) one value per snippet with nodes of it; includes nodes
            for which no table has a category, which `whole` leaves out.
        whole: (s,) the mean over all nodes that count for a concept, one per snippet.
        tokens: Number of scored tokens.
        bits: Surprisal of these tokens, in bits.
        bytes: Number of bytes that they cover.
    """

    categories: dict[str, Floats]
    whole: Floats
    tokens: int
    bits: float
    bytes: int

    @classmethod
    def of(cls, scored: Confidence) -> FileConfidence:
        """The local values of a scored document."""
        starts = np.array([unit.start for unit in units(scored.document)], np.int64)
        grouped: dict[str, dict[int, list[float]]] = {}
        everything: dict[int, list[float]] = {}
        for node in scored.nodes:
            concept = scored.concept_of(node)
            if concept in (None, Category.STRUCTURE) or node.confidence is None:
                continue
            snippet = int(np.searchsorted(starts, node.start, side="right"))
            grouped.setdefault(concept, {}).setdefault(snippet, []).append(node.confidence)
            if concept not in NO_CONCEPTS:
                everything.setdefault(snippet, []).append(node.confidence)
        end = np.array([len(scored.document.data)])
        bits, covered = Surprisal(scored.scores).bits(np.array([0]), end)
        return cls(
            categories={category: _means(snippets) for category, snippets in grouped.items()},
            whole=_means(everything),
            tokens=int((~np.isnan(scored.scores.logprob)).sum()),
            bits=float(bits[0]),
            bytes=int(covered[0]),
        )


@dataclass(frozen=True, slots=True)
class Median(IntervalEstimate):
    """A median over the snippets of a corpus.

    Attributes:
        snippets: Number of snippets with the category.
        files: Number of files with these snippets.
    """

    snippets: int
    files: int


@dataclass(frozen=True, slots=True)
class CorpusConfidence:
    """A model's confidence in a corpus.

    Attributes:
        categories: The median of each category that occurs, sorted by name.
        whole: The median over all of them; None if no node has a category.
        bits_per_byte: The surprisal of all files divided by their bytes: comparable across tokenizers; None
            if nothing is scored.
        files: Number of files.
        tokens: Number of scored tokens.
        seed: Random seed of the resamples.
        resamples: Number of resamples.
    """

    categories: dict[str, Median]
    whole: Median | None
    bits_per_byte: IntervalEstimate | None
    files: int
    tokens: int
    seed: int
    resamples: int


def corpus_confidence(
    files: Sequence[FileConfidence], *, seed: int = 0, resamples: int = RESAMPLES
) -> CorpusConfidence:
    """The global aggregation of some files.

    Args:
        files: The scored documents; all with one model, one aggregation and one alignment rule.
        seed: Random seed of the resamples: the same seed gives the same intervals.
        resamples: Number of resamples.
    """
    occurring = sorted({category for file in files for category in file.categories})
    none = np.empty(0)
    return CorpusConfidence(
        categories={
            category: median
            for category in occurring
            if (median := _median([file.categories.get(category, none) for file in files], seed, resamples))
        },
        whole=_median([file.whole for file in files], seed, resamples),
        bits_per_byte=_estimate(files, _bits_per_byte, seed, resamples),
        files=len(files),
        tokens=sum(file.tokens for file in files),
        seed=seed,
        resamples=resamples,
    )


def _median(files: list[Floats], seed: int, resamples: int) -> Median | None:
    """The median of all values, which are given per file."""
    estimate = _estimate(files, _pool, seed, resamples)
    if estimate is None:
        return None
    holding = [values for values in files if len(values)]
    enough = len(holding) >= LEAST_CLUSTERS
    low, high = (estimate.low, estimate.high) if enough else (None, None)
    return Median(estimate.value, low, high, sum(map(len, holding)), len(holding))


def _estimate(
    files: Sequence[OfFile], figure: Callable[[Sequence[OfFile]], float | None], seed: int, resamples: int
) -> IntervalEstimate | None:
    """A figure with its interval over files."""
    drawn = bootstrap(files, figure, seed=seed, resamples=resamples)
    return None if drawn.value is None else IntervalEstimate(drawn.value, drawn.low, drawn.high)


def _pool(chosen: Sequence[Floats]) -> float | None:
    together = np.concatenate(chosen) if chosen else np.empty(0)
    return float(np.median(together)) if len(together) else None


def _bits_per_byte(chosen: Sequence[FileConfidence]) -> float | None:
    size = sum(file.bytes for file in chosen)
    return sum(file.bits for file in chosen) / size if size else None


def _means(snippets: dict[int, list[float]]) -> Floats:
    return np.array([sum(values) / len(values) for _, values in sorted(snippets.items())], np.float64)
