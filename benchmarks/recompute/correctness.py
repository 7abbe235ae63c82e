"""Confidence beside verdicts, from judged completions: `python correctness.py FOLDER...`.

Imports nothing from Counterlens. A folder has `MODEL.jsonl.gz`, as `counterlens calibrate
--records` writes it; there may be the same for reference solutions, in a folder with `references-` in its
name. For completions and for statements, a logistic regression on four summaries of the tokens'
log-probabilities, for statements also on those of their completion, gives the chance that a piece is right;
docs/calibration.md has the method. Every figure is of functions outside the fit: each half of the
functions gets the regression of the other half. Intervals are percentiles of 1,000 resamples of functions.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import numpy as np

LEAST_OF_KIND = 40
LEVELS = ["below 1 %", "1 to 5 %", "5 to 20 %", "20 to 50 %", "50 to 80 %", "80 % and more"]


def read(path: Path) -> dict:
    """The pieces: summaries, node types, whether each is right, its function, and its mean probability."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    whole = [("", row["passed"], row["logprobs"], [], row["function"], row["passed"]) for row in rows]
    parts = [
        (*part, row["logprobs"], row["function"], row["passed"]) for row in rows for part in row["statements"]
    ]
    return {"completions": arrays(whole), "statements": arrays(parts)}


def summaries(logprobs: list) -> list:
    logs = np.array(logprobs, float)
    return [logs.mean(), logs.sum(), logs.min(), np.log(len(logs))] if len(logs) else []


def arrays(pieces: list) -> dict:
    kind, right, logprobs, whole, function, passed = zip(*pieces, strict=True)
    return {
        "columns": np.array([summaries(a) + summaries(b) for a, b in zip(logprobs, whole, strict=True)]),
        "kind": np.array(kind),
        "right": np.array(right, float),
        "function": np.array(function),
        "passed": np.array(passed),
        "probability": np.array([np.exp(each).mean() for each in logprobs]),
    }


def halves_of(pieces: dict, seed: int) -> list:
    """Masks of two halves of the functions, at random, with about the same share of right pieces."""
    functions, place = np.unique(pieces["function"], return_inverse=True)
    share = np.bincount(place, pieces["right"]) / np.bincount(place)
    order = np.random.default_rng(seed).permutation(len(functions))
    order = order[np.argsort(share[order], kind="stable")]
    return [np.isin(pieces["function"], functions[order[i::2]]) for i in range(2)]


def logistic(rows, right):
    """Weights and offset with the least log-loss plus half the squared weights: Newton's method."""
    rows = np.column_stack([rows, np.ones(len(rows))])
    penalty = np.ones(rows.shape[1])
    penalty[-1] = 0
    weights = np.zeros(rows.shape[1])
    for _ in range(100):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (chance - right) + penalty * weights
        curve = (rows * (chance * (1 - chance))[:, None]).T @ rows + np.diag(penalty + 1e-12)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-10:
            break
    return weights[:-1], weights[-1]


def fit(pieces: dict, mask):
    """A function from pieces to their chances, fitted on the pieces of a mask."""
    right = pieces["right"][mask]
    if right.min() == right.max():
        share = (right.sum() + 1) / (len(right) + 2)
        return lambda where: np.full(int(where.sum()), share)
    columns = pieces["columns"][mask]
    center, spread = columns.mean(axis=0), np.maximum(columns.std(axis=0), 1e-9)
    kinds, counts = np.unique(pieces["kind"][mask], return_counts=True)
    kinds = [kind for kind, n in zip(kinds, counts, strict=True) if kind and n >= LEAST_OF_KIND]

    def design(where):
        scaled = (pieces["columns"][where] - center) / spread
        return np.column_stack([scaled, *((pieces["kind"][where] == kind).astype(float) for kind in kinds)])

    weights, offset = logistic(design(mask), right)
    return lambda where: 1 / (1 + np.exp(-np.clip(design(where) @ weights + offset, -30, 30)))


def held_out(pieces: dict, seed: int = 0):
    """The chance of each piece by the regression of the other half of the functions."""
    chances = np.zeros(len(pieces["right"]))
    for half in halves_of(pieces, seed):
        chances[half] = fit(pieces, ~half)(half)
    return chances


def skill(chance, right, weight) -> float:
    share = (weight * right).sum() / weight.sum()
    error = (weight * (chance - right) ** 2).sum() / weight.sum()
    return 1 - error / (share * (1 - share)) if 0 < share < 1 else 0.0


def auroc(chance, right, weight) -> float:
    order = np.argsort(chance, kind="stable")
    value, right, weight = chance[order], right[order], weight[order]
    _, first = np.unique(value, return_index=True)
    good = np.add.reduceat(weight * right, first)
    bad = np.add.reduceat(weight * (1 - right), first)
    both = good.sum() * bad.sum()
    return float((good * (np.cumsum(bad) - bad / 2)).sum() / both) if both else 0.5


def ece(chance, right, weight) -> float:
    column = np.minimum((chance * 10).astype(int), 9)
    gap = np.bincount(column, weight * (chance - right), minlength=10)
    return float(np.abs(gap).sum() / weight.sum())


def shown(figure, chance, right, function) -> str:
    """A figure with its interval over functions."""
    rng = np.random.default_rng(0)
    n = int(function.max()) + 1
    draws = rng.multinomial(n, np.full(n, 1 / n), size=1000).astype(float)
    values = [figure(chance, right, draw[function]) for draw in draws]
    low, high = np.quantile(values, [0.025, 0.975])
    return f"{figure(chance, right, np.ones(len(right))):.2f} ({low:.2f} to {high:.2f})"


def by_people(pieces_of: dict, file: Path) -> list:
    """The chances of reference solutions, all of which are right, by the regression of other functions."""
    if not file.exists():
        return []
    rows = []
    for name, written in read(file).items():
        pieces = pieces_of[name]
        both = {key: np.concatenate([pieces[key], written[key]]) for key in pieces}
        ours = np.arange(len(both["right"])) < len(pieces["right"])
        chances = np.zeros(len(ours))
        for half in halves_of(pieces, 0):
            inside = np.isin(both["function"], pieces["function"][half])
            chances[inside] = fit(both, ours & ~inside)(inside)
        chance = chances[~ours & np.isin(both["function"], pieces["function"])]
        low = int((chance < pieces["right"].mean()).sum())
        rows.append([name, len(chance), f"{np.median(chance):.2f}", f"{low} of {len(chance)}"])
    return rows


def tables(folder: Path) -> dict:
    """The tables of a model."""
    (file,) = folder.glob("*.jsonl.gz")
    model = file.name.removesuffix(".jsonl.gz")
    figures, bins, kinds, levels = [], [], [], []
    pieces_of = read(file)
    for name, pieces in pieces_of.items():
        chance, right = held_out(pieces), pieces["right"]
        _, function = np.unique(pieces["function"], return_inverse=True)
        cells = [shown(figure, chance, right, function) for figure in (auroc, skill, ece)]
        figures.append([model, name, len(right), int(function.max()) + 1, f"{right.mean():.2f}", *cells])
        column = np.minimum((chance * 10).astype(int), 9)
        for i in range(10):
            inside = column == i
            if inside.any():
                count = f"{int(right[inside].sum())} of {int(inside.sum())}"
                chances = [f"{i / 10:.1f} to {(i + 1) / 10:.1f}", f"{chance[inside].mean():.2f}"]
                bins.append([model, name, *chances, f"{right[inside].mean():.2f}", count])
        if name == "statements":
            failing = ~pieces["passed"]
            _, function = np.unique(pieces["function"][failing], return_inverse=True)
            area = shown(auroc, chance[failing], right[failing], function)
            counts = [int(failing.sum()), int(function.max()) + 1, f"{right[failing].mean():.2f}"]
            inside_failing = [[model, *counts, area]]
            for kind in np.unique(pieces["kind"]):
                inside = pieces["kind"] == kind
                if inside.sum() >= LEAST_OF_KIND:
                    mean = f"{pieces['probability'][inside].mean():.2f}"
                    kinds.append([model, f"`{kind}`", int(inside.sum()), mean, f"{right[inside].mean():.2f}"])
            level = np.searchsorted([0.01, 0.05, 0.2, 0.5, 0.8], pieces["probability"], side="right")
            for i, label in enumerate(LEVELS):
                inside = level == i
                if inside.any():
                    share = f"{right[inside].mean():.2f}"
                    levels.append([model, label, f"{int(right[inside].sum())} of {int(inside.sum())}", share])
    kinds.sort(key=lambda row: -row[2])
    references = folder.with_name(folder.name.replace("correctness-", "correctness-references-"))
    people = [[model, *row] for row in by_people(pieces_of, references / file.name)]
    return {
        "confidence and correctness": figures,
        "code that people wrote": people,
        "reliability of chances": bins,
        "statements of completions that fail": inside_failing,
        "statements by kind": kinds,
        "statements by confidence": levels,
    }


if __name__ == "__main__":
    print(json.dumps({name: tables(Path(name)) for name in sys.argv[1:]}))
