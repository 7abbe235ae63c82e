"""How well a score ranks true edges above others: AUROC, average precision, thresholds by cross-validation.

Scores and labels are grouped by cluster (function): edges of one function are correlated, so intervals, folds
and permutations consist of whole functions, or are within them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterlens.metrics.agreement import Agreement
from counterlens.metrics.bootstrap import RESAMPLES, Estimate, bootstrap

Scores = npt.NDArray[np.float64]
Labels = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """The pairs of one function.

    Attributes:
        scores: (n,) float64, higher for likelier edges.
        labels: (n,) bool, whether each is an edge.
    """

    scores: Scores
    labels: Labels


def auroc(scores: Scores, labels: Labels) -> float | None:
    """The probability that a true pair scores above another one, ties half (Mann-Whitney U over n1 n0).

    None if all are of one kind.
    """
    positive = int(labels.sum())
    negative = len(labels) - positive
    if not positive or not negative:
        return None
    ranks = _ranks(scores)
    return float((ranks[labels].sum() - positive * (positive + 1) / 2) / (positive * negative))


def average_precision(scores: Scores, labels: Labels) -> float | None:
    """The sum over distinct thresholds of (gain in recall) x (precision there); None without a true pair."""
    positive = int(labels.sum())
    if not positive:
        return None
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.diff(scores[order]) != 0, True)  # pairs with one score are added together
    hits = np.cumsum(labels[order])[last]
    precision = hits / (np.flatnonzero(last) + 1)
    return float(np.sum(np.diff(hits, prepend=0) / positive * precision))


def stratified_auroc(scores: Scores, labels: Labels, strata: Sequence[Hashable]) -> float | None:
    """AUROC among pairs of the same stratum (such as the same distance), weighted by their n1 n0."""
    weighted, weights = 0.0, 0
    groups: dict[Hashable, list[int]] = {}
    for i, stratum in enumerate(strata):
        groups.setdefault(stratum, []).append(i)
    for members in groups.values():
        value = auroc(scores[members], labels[members])
        if value is not None:
            positive = int(labels[members].sum())
            weight = positive * (len(members) - positive)
            weighted, weights = weighted + weight * value, weights + weight
    return weighted / weights if weights else None


def auroc_interval(clusters: Sequence[Cluster], *, seed: int = 0, resamples: int = RESAMPLES) -> Estimate:
    """AUROC over all pairs, with a cluster bootstrap interval."""
    return bootstrap(clusters, lambda chosen: auroc(*joined(chosen)), seed=seed, resamples=resamples)


def average_precision_interval(
    clusters: Sequence[Cluster], *, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Average precision over all pairs, with a cluster bootstrap interval."""
    return bootstrap(
        clusters, lambda chosen: average_precision(*joined(chosen)), seed=seed, resamples=resamples
    )


def joined(clusters: Sequence[Cluster]) -> tuple[Scores, Labels]:
    """The pairs of several clusters."""
    if not clusters:
        return np.empty(0), np.empty(0, bool)
    return np.concatenate([cluster.scores for cluster in clusters]), np.concatenate(
        [cluster.labels for cluster in clusters]
    )


def best_threshold(scores: Scores, labels: Labels) -> float:
    """The smallest score of a predicted edge that maximises F1; infinite if there is none."""
    if not labels.any():
        return float("inf")
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    hits = np.cumsum(labels[order])[last]
    best = int(np.argmax(2 * hits / (last + 1 + labels.sum())))
    return float(scores[order][last[best]])


def cross_validated(
    clusters: Sequence[Cluster], *, folds: int = 5, seed: int = 0
) -> tuple[list[Agreement], list[float]]:
    """Agreement of each cluster at a threshold chosen on the clusters of the other folds.

    Returns:
        One agreement per cluster, in order, and the threshold of each fold.
    """
    order = np.random.default_rng(seed).permutation(len(clusters))
    fold = np.empty(len(clusters), int)
    fold[order] = np.arange(len(clusters)) % folds
    agreements = [Agreement()] * len(clusters)
    thresholds = []
    for which in range(min(folds, len(clusters))):
        threshold = best_threshold(*joined([c for c, f in zip(clusters, fold, strict=True) if f != which]))
        thresholds.append(threshold)
        for i in np.flatnonzero(fold == which).tolist():
            agreements[i] = at_threshold(clusters[i], threshold)
    return agreements, thresholds


def at_threshold(cluster: Cluster, threshold: float) -> Agreement:
    """The agreement if every pair with at least the threshold is predicted as an edge."""
    found = cluster.scores >= threshold
    return Agreement(
        int((found & cluster.labels).sum()),
        int((found & ~cluster.labels).sum()),
        int((~found & cluster.labels).sum()),
    )


def permuted(clusters: Sequence[Cluster], *, seed: int = 0) -> list[Cluster]:
    """The same scores with each function's edges shuffled among its pairs: AUROC is 0.5 on average.

    This holds for the average over the pairs of each function; if functions differ in their share of edges,
    and in their scores, the pooled figure retains the difference between functions.
    """
    random = np.random.default_rng(seed)
    return [Cluster(cluster.scores, random.permutation(cluster.labels)) for cluster in clusters]


def _ranks(values: Scores) -> Scores:
    """Ranks from 1, with mean ranks for ties."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    mean: Scores = ends - (counts - 1) / 2
    return mean[inverse]
