"""The tables of EMPICA (Nguyen et al. 2024), from an exported run alone.

    counterlens export RUN -o FOLDER && python benchmarks/recompute/empica.py FOLDER

Written from the paper, sections 4.2 and 5.1, and intentionally without code of Counterlens: it reads the
Parquet files and prints every cell as JSON, by task, model and table. Intervals are percentiles of 1,000
bootstraps over functions, expanded for few functions (Hesterberg 2015).
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
from scipy import stats

KEEP = ("for-while-convert", "if-else-flip", "rename-generic", "reorder-parameters")
BREAK = ("negate-condition", "remove-conditional", "replace-arithmetic", "remove-definition")
NAMES = ("exact match", "F1", "precision", "recall")
MEASURES = {"summary": ("semantic", "lexical"), "output": ("equal",), "name": NAMES}


def rows(folder, name):
    path = folder / f"{name}.parquet"
    return parquet.read_table(path).to_pylist() if path.exists() else []


def lexical(pairs):
    """Cosines of TF-IDF vectors of words, fitted over all answers of the run (equation 3)."""
    first = {pair["problem"]: pair["original"] for pair in reversed(pairs)}
    texts = [*first.values(), *(pair["answer"] for pair in pairs)]
    words = [Counter(re.findall(r"\w+", text.lower())) for text in texts]
    known = sorted(set().union(*words))
    counts = np.array([[found[word] for word in known] for found in words], float)
    vectors = counts * (np.log((1 + len(texts)) / (1 + (counts > 0).sum(axis=0))) + 1)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    at = dict(zip(texts, vectors, strict=True))
    return [float(at[pair["original"]] @ at[pair["answer"]]) for pair in pairs]


def figure(functions):
    """The mean of the operators' means (equations 1 and 2, and section 5.1, RQ1)."""
    pooled = [[v for one in functions for v in one.get(name, ())] for name in set().union(*functions)]
    return float(np.mean([np.mean(values) for values in pooled])) if pooled else None


def interval(functions, seed):
    n = len(functions)
    if n < 6:
        return [None, None]
    draws = np.random.default_rng(seed).integers(0, n, (1000, n)).tolist()
    drawn = [figure([functions[index] for index in draw]) for draw in draws]
    tail = stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1))
    low, high = np.quantile(drawn, [tail, 1 - tail]).tolist()
    return [low, high] if high - low > 1e-12 * max(abs(low), abs(high)) else [None, None]


def estimate(functions, seed):
    return [figure(functions), *interval(functions, seed)] if functions else None


def holm(values):
    order = sorted((index for index, p in enumerate(values) if p is not None), key=values.__getitem__)
    adjusted, highest = [None] * len(values), 0.0
    for rank, index in enumerate(order):
        highest = adjusted[index] = max(highest, min(1.0, values[index] * (len(order) - rank)))
    return adjusted


def mann_whitney(right, wrong):
    means = [[np.mean([*chain.from_iterable(one.values())]) for one in side] for side in (right, wrong)]
    sides = [[round(float(mean), 12) for mean in side] for side in means]
    if not right or not wrong or len({*sides[0], *sides[1]}) == 1:
        return None
    return float(stats.mannwhitneyu(*sides, alternative="two-sided").pvalue)


def tables(pairs, records, measures, seed):
    found, tested = {}, {}
    known = [record for record in records if record["passed"] is not None]
    if known:
        passed, asked = sum(record["passed"] for record in known), len({pair["problem"] for pair in pairs})
        found["table 2"] = [len(known), passed, passed / len(known), asked]
    values = {name: [pair["similarity"].get(name) for pair in pairs] for name in measures}
    if pairs and "lexical" in measures:
        values["lexical"] = lexical(pairs)
    for name, given in values.items():
        if pairs and None not in given:
            for title, kind in (("robustness", KEEP), ("sensitivity", BREAK)):
                one_kind(found, tested, pairs, given, (name, title, kind, seed))
    for cell, p, adjusted in zip(tested, tested.values(), holm(list(tested.values())), strict=True):
        found[cell] += [None if one is None else f"{one:.3g}" for one in (p, adjusted)]
    return found


def one_kind(found, tested, pairs, given, what):
    name, title, kind, seed = what
    functions, correct = defaultdict(lambda: defaultdict(list)), {}
    for pair, alike in zip(pairs, given, strict=True):
        if pair["mutation"] in kind:
            functions[pair["problem"]][pair["mutation"]].append(alike if kind is KEEP else 1 - alike)
            correct[pair["problem"]] = pair["correct"]
    whole = list(functions.values())
    for operator in kind:
        own = [{operator: one[operator]} for one in whole if operator in one]
        count = sum(pair["mutation"] == operator for pair in pairs)
        found[f"table 6, {name}, {operator}"] = [count, estimate(own, seed)]
    if whole:
        sizes = len(set().union(*whole)), sum(len(cases) for one in whole for cases in one.values())
        found[f"table 3 to 5, {name}, {title}"] = [*sizes, len(whole), estimate(whole, seed)]
    if {True, False} <= {pair["correct"] for pair in pairs}:
        sides = [[functions[p] for p in functions if correct[p] is side] for side in (True, False)]
        tested[f"figure 7, {name}, {title}"] = mann_whitney(*sides)
        both = [estimate(side, seed) or [None, None, None] for side in sides]
        found[f"figure 7, {name}, {title}"] = [*map(len, sides), *both]


def table_7(edges, seed):
    found = {}
    for relation in dict.fromkeys(edge["relation"] for edge in edges):
        counts = Counter((edge["problem"], edge["status"]) for edge in edges if edge["relation"] == relation)
        problems = dict.fromkeys(edge["problem"] for edge in edges)
        known = [[counts[one, status] for status in ("found", "invented", "missed")] for one in problems]
        known = [(f / max(1, f + i), f / (f + m), 2 * f / (2 * f + i + m)) for f, i, m in known if f + m]
        columns = ([{relation: [value]} for value in column] for column in zip(*known, strict=True))
        found[f"table 7, {relation}"] = [len(known), *(estimate(column, seed) for column in columns)]
    return found


def main(folder, seed=0):
    models, found = dict.fromkeys(record["model"] for record in rows(folder, "records")), {}
    for task, measures in MEASURES.items():
        pairs, records = rows(folder, f"{task}-pairs"), rows(folder, task)
        for model in models if records else ():
            own = ([row for row in some if row["model"] == model] for some in (pairs, records))
            found[f"{task}, {model}"] = tables(*own, measures, seed)
    for model in models:
        edges = [row for row in rows(folder, "dependence-edges") if row["model"] == model]
        found |= {f"dependence, {model}": table_7(edges, seed)} if edges else {}
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
