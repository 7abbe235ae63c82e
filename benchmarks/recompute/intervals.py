"""Shares, means and intervals for the recomputing scripts, written from docs/statistics.md.

Imports nothing from Counterlens. A cell is a dictionary with `value`, `low`, `high`
and `n`, and, for shares, `count`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from math import sqrt

import numpy as np
import pyarrow.parquet as parquet
from scipy.stats import binomtest, norm, t

FEW = 10
"""Functions below which nothing is concluded."""
LEVEL = 0.05
"""The largest p of a conclusion."""
FEWEST = 6
"""Functions below which there is no bootstrap interval."""


def moments(values):
    """n, clusters, mean, the variance of the mean by analysis of variance, and sum of squared sizes / n."""
    groups = defaultdict(list)
    for cluster, value in values:
        groups[cluster].append(float(value))
    sizes = [len(g) for g in groups.values()]
    n, k = sum(sizes), len(sizes)
    mean = sum(map(sum, groups.values())) / n
    squares = sum(m * m for m in sizes) / n
    variance = 0.0
    if k > 1:
        centres = [sum(g) / len(g) for g in groups.values()]
        between = sum(m * (c - mean) ** 2 for m, c in zip(sizes, centres, strict=True)) / (k - 1)
        rest = sum((x - c) ** 2 for g, c in zip(groups.values(), centres, strict=True) for x in g)
        within = rest / (n - k) if n > k else 0.0
        component = max(0.0, between - within) * (k - 1) / (n - squares)
        variance = component * squares / n + within / n
        if variance < 1e-24:
            variance = 0.0
    return n, k, mean, variance, squares


def wilson(values):
    """The mean of values in [0, 1] and Wilson's interval on the effective sample size; n and clusters."""
    n, k, p, variance, squares = moments(values)
    z = norm.ppf(0.975)
    size = float(n) if k == 1 else n / squares
    if k > 1 and variance:
        size = max(size, p * (1 - p) / variance * (z / t.ppf(0.975, min(k - 1, 1000))) ** 2)
    if all(value in (0, 1) for _, value in values):
        size = min(size, n)
    elif len({value for _, value in values}) == 1:  # equal fractions: as many others as there may be
        others = z * z / (size + z * z)
        return p, p * (1 - others), p + (1 - p) * others, n, k
    middle = (p + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * sqrt(p * (1 - p) / size + z * z / (4 * size * size))
    return p, min(p, max(0.0, middle - half)), max(p, min(1.0, middle + half)), n, k


def share(values):
    """A share of (cluster, whether) observations."""
    values = list(values)
    if not values:
        return {"value": None, "low": None, "high": None, "count": 0, "n": 0}
    p, low, high, n, _ = wilson(values)
    return {"value": p, "low": low, "high": high, "count": sum(bool(v) for _, v in values), "n": n}


def rate(values):
    """A share of independent observations."""
    return share(enumerate(values))


def less(cell, other):
    """The difference of two figures; None if one is not known."""
    known = None not in (cell["value"], other["value"])
    return cell["value"] - other["value"] if known else None


def average(values):
    """A mean of (cluster, value) observations in [-1, 1]; n counts clusters."""
    values = list(values)
    if not values:
        return {"value": None, "low": None, "high": None, "n": 0}
    mean, low, high, _, k = wilson([(cluster, (value + 1) / 2) for cluster, value in values])
    return {"value": 2 * mean - 1, "low": 2 * low - 1, "high": 2 * high - 1, "n": k}


def tested(values):
    """The same with an exact test: the sign test of the clusters' sums."""
    totals = defaultdict(float)
    for cluster, value in (values := list(values)):
        totals[cluster] += value
    return average(values) | {"p": signs(totals.values())}


def signs(values):
    """The exact two-sided sign test of some differences, without those that are 0; 1 if all are.

    An interval of few functions rests on a normal approximation; this test does not.
    """
    above, below = sum(value > 0 for value in values), sum(value < 0 for value in values)
    return float(binomtest(above, above + below).pvalue) if above + below else 1.0


def bootstrap(groups, figure, seed=0, resamples=1000):
    """A figure of groups of observations, with the interval over the groups, expanded for few of them.

    Args:
        groups: The observations of each function.
        figure: Computes the figure of a list of groups; None if it has none.
    """
    n, value = len(groups), figure(groups) if groups else None
    cell = {"value": value, "low": None, "high": None, "n": n}
    if n < FEWEST or value is None:
        return cell
    draws = np.random.default_rng(seed).integers(0, n, (resamples, n))
    drawn = [each for draw in draws if (each := figure([groups[i] for i in draw])) is not None]
    tail = norm.cdf(-sqrt(n / (n - 1)) * t.ppf(0.975, n - 1))
    low, high = np.quantile(drawn, [tail, 1 - tail]).tolist() if drawn else (None, None)
    return cell | {"low": low, "high": high} if drawn and high - low > 1e-12 else cell


def mean(groups):
    """The mean of all observations of some groups; None if there are none."""
    values = [value for group in groups for value in group]
    return float(np.mean(values)) if values else None


def difference(groups):
    """The mean of the first values of some (first, second) groups less that of the second ones."""

    def figure(drawn):
        means = [mean([group[at] for group in drawn]) for at in (0, 1)]
        return None if None in means else means[0] - means[1]

    cell = bootstrap(groups, figure)
    return cell | {"p": exchanged(groups, figure)} if cell["low"] is not None else cell


def exchanged(groups, figure, seed=0, draws=2000):
    """The two-sided test that exchanges the sides of groups at random, as if there were no effect."""
    value, random, extreme = abs(figure(groups)), np.random.default_rng(seed), 1
    for flips in random.integers(0, 2, (draws, len(groups))).astype(bool):
        drawn = figure([group[::-1] if flip else group for group, flip in zip(groups, flips, strict=True)])
        extreme += drawn is None or abs(drawn) >= value - 1e-12
    return extreme / (draws + 1)


def conclude(cell, least=0.0):
    """Whether a figure that a conclusion says is positive is so: its interval is above, below or around 0.

    Where the figure has a test of its own, that must say so, too. An interval that is wholly below `least`,
    the smallest figure that would matter, says that the conclusion does not hold, although it contains 0.
    """
    few = cell is None or cell["low"] is None or cell["n"] < FEW
    if not few and cell["low"] <= 0 <= cell["high"] < least:
        return "does not hold"
    if few or cell["low"] <= 0 <= cell["high"] or cell.get("p", 0.0) > LEVEL:
        return "cannot be told"
    return "holds" if cell["low"] > 0 else "does not hold"


def kept_rows(folders, *names):
    """The rows of some files over all folders, by model from small to large; lists if there are several."""
    models = {}
    for folder in folders:
        for at, name in enumerate(names):
            file = folder / f"{name}.parquet"
            for row in parquet.read_table(file).to_pylist() if file.exists() else ():
                models.setdefault(row["model"], tuple([] for _ in names))[at].append(row)
    return {
        model: models[model][0] if len(names) == 1 else models[model] for model in sorted(models, key=size)
    }


def size(model):
    """The parameters of a model by its name, such as `0.5b`, in millions; 0 if it has none."""
    known = re.search(r"(\d+(?:\.\d+)?)([mb])\b", model.lower())
    return float(known[1]) * (1000 if known[2] == "b" else 1) if known else 0.0
