"""The tables of Hooda et al. 2024, from exported Parquet: `python benchmarks/recompute/cacp.py FOLDER...`.

Written from the paper (sections 3.4, 4.3 and 5.2) and docs/statistics.md; imports nothing from Counterlens.
FOLDER is the output of `counterlens export` for a run of completion or repair with `--protocol cacp`.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from math import sqrt
from pathlib import Path

import pyarrow.parquet as pq
from scipy.stats import norm, t

MUTATIONS = ["rename-random", "rename-shuffle", "if-else-flip", "independent-swap", "def-use-break"]
OPERATORS = [("==", "!="), (">", "<="), ("<", ">="), ("is", "is not"), ("in", "not in")]


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
    """A share of observations in clusters."""
    values = list(values)
    if not values:
        return {"value": None, "low": None, "high": None, "count": 0, "n": 0}
    p, low, high, n, _ = wilson(values)
    return {"value": p, "low": low, "high": high, "count": sum(bool(v) for _, v in values), "n": n}


def average(values):
    """A mean of values in [-1, 1]; n counts clusters."""
    if not values:
        return {"value": None, "low": None, "high": None, "n": 0}
    mean, low, high, _, k = wilson([(cluster, (value + 1) / 2) for cluster, value in values])
    return {"value": 2 * mean - 1, "low": 2 * low - 1, "high": 2 * high - 1, "n": k}


def effect(pairs):
    """Section 4.3: the share of pairs with different verdicts, among the pairs with a right side."""
    right = [p for p in pairs if p["original_right"] or p["counterfactual_right"]]
    return share((p["problem"], p["original_right"] != p["counterfactual_right"]) for p in right)


def judged(pairs):
    return [p for p in pairs if p["original_right"] is not None and p["counterfactual_right"] is not None]


def row(pairs, mutations):
    """The original accuracy, with every original once, and the effect of each mutation."""
    known = judged(pairs)
    originals = {(p["problem"], p["cut"]["original"] if p["cut"] else 0): p["original_right"] for p in known}
    cells = [share((problem, right) for (problem, _), right in originals.items())]
    for name in mutations:
        some = [p for p in pairs if p["mutation"] == name]
        cells.append(effect(judged(some)) if some else None)
    return cells


def telling(pairs):
    """All pairs, and those on which the original's rest fails after the counterfactual's prompt."""
    for name in ["all", *sorted({p["mutation"] for p in pairs})]:
        known = judged(some := [p for p in pairs if name in ("all", p["mutation"])])
        there = [p for p in known if p.get("discriminating")]
        if any(p.get("discriminating") is not None for p in known):
            rest = effect(there), share((p["problem"], p["copied"]) for p in there)
            yield [name, len(some), effect(known), len(there), rest[0]["n"], *rest]


def tables(folder):
    task = "completion" if (folder / "completion-pairs.parquet").exists() else "repair"
    models = list(dict.fromkeys(pq.read_table(folder / "records.parquet")["model"].to_pylist()))
    pairs = pq.read_table(folder / f"{task}-pairs.parquet").to_pylist()
    of = {model: [p for p in pairs if p["model"] == model] for model in models}
    found = {}
    if any(p.get("cut_range") for p in pairs):
        names = [name for name in MUTATIONS if name != "if-else-flip"]
        rows = []
        for model, own in of.items():
            for one in sorted({tuple(p["cut_range"]) for p in own}):
                some = [p for p in own if tuple(p["cut_range"]) == one]
                rows.append([model, f"{one[0]:g} - {one[1]:g}", *row(some, names), len(some)])
        found["average mutation effect by cut"] = rows
    else:
        title = "average mutation effect" + (", repair" if task == "repair" else "")
        found[title] = [[model, *row(own, MUTATIONS)] for model, own in of.items()]
        rows = []
        for model, own in of.items():
            for a, b in OPERATORS:
                there, back = (
                    [(p["problem"], p["original_right"] - p["counterfactual_right"]) for p in some]
                    for some in (
                        [p for p in judged(own) if p.get("operators") == o] for o in ([a, b], [b, a])
                    )
                )
                if there or back:
                    rows.append([model, a, b, average(there), average(back), len(there), len(back)])
        if rows:
            found["complementary operators"] = rows
    if rows := [[model, *line] for model, own in of.items() for line in telling(own)]:
        found["discriminating pairs"] = rows
    rows = []
    for model, own in of.items():
        distinct = {(p["mutation"], p["problem"], json.dumps(p["edits"])) for p in own}
        rows.append([model, *(sum(d[0] == name for d in distinct) for name in MUTATIONS), len(distinct)])
    found["counterfactual pairs"] = rows
    return found


if __name__ == "__main__":
    print(json.dumps({str(folder): tables(Path(folder)) for folder in sys.argv[1:]}, indent=2))
