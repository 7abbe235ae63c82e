"""The tables of docs/results/recognition.md, from kept records; imports nothing from Counterlens.

One folder has the records of the recognition probe, by model, as `benchmarks/recognition.py measure` writes
them; the other the completions of the same functions, as `benchmarks/seen_and_fresh.py effects` does.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from math import sqrt
from statistics import fmean

import numpy as np
from intervals import average, bootstrap, conclude, share, size
from scipy.stats import norm, t

RESAMPLES = 2000


def lines_of(folders):
    """All lines, by the model of their file."""
    models = defaultdict(list)
    for file in sorted(file for folder in folders for file in folder.glob("*.jsonl.gz")):
        for line in gzip.decompress(file.read_bytes()).splitlines():
            models[file.name.removesuffix(".jsonl.gz")].append(json.loads(line))
    return dict(sorted(models.items(), key=lambda entry: size(entry[0])))


def scores(record):
    """What each score says about a function; the higher, the more it should suggest that it was seen."""
    mean = record["total"] / record["tokens"]
    structure = [n for n in record["neighbours"] if n["concept"] in ("control flow", "data flow")]
    margins = [mean - n["total"] / n["tokens"] for n in structure]
    written = [v["written"] / v["words"] for v in record["verbatim"]]
    return {
        "margin over neighbours": fmean(margins) if margins else None,
        "summed margin": fmean(record["total"] - n["total"] for n in structure) if structure else None,
        "share of neighbours beaten": fmean(m > 0 for m in margins) if margins else None,
        "Min-K%++": record["min_k"],
        "written word for word": written[0] if written else None,
        "word for word beyond the counterfactual": written[0] - written[1] if len(written) > 1 else None,
        "likelihood alone": mean,
    }


def area(seen, fresh):
    """The probability that a seen function has the higher score; ties count half."""
    above = np.subtract.outer(np.asarray(seen), np.asarray(fresh))
    return float((above > 0).mean() + (above == 0).mean() / 2)


def area_cell(sides):
    """The area with its interval, resampling whole packages on both sides, expanded for few packages."""
    flat = [[score for group in side.values() for score in group] for side in sides]
    cell = {"auc": area(*flat), "low": None, "high": None, "n": list(map(len, flat))}
    groups = [list(side.values()) for side in sides]
    n = min(map(len, groups))
    if n < 6:
        return cell
    rng, drawn = np.random.default_rng(0), []
    for _ in range(RESAMPLES):
        picks = [[s for i in rng.integers(0, len(g), len(g)) for s in g[i]] for g in groups]
        drawn.append(area(*picks))
    tail = norm.cdf(-sqrt(n / (n - 1)) * t.ppf(0.975, n - 1))
    low, high = np.quantile(drawn, [tail, 1 - tail]).tolist()
    return cell | {"low": low, "high": high}


def areas(models):
    """The area of each score for each model, and whether anything can be told from it."""
    cells_of = {}
    for model, lines in models.items():
        probed = [line for line in lines if line["record"]["outcome"] == "probed"]
        by_score = defaultdict(lambda: ({}, {}))
        for line in probed:
            for name, score in scores(line["record"]).items():
                if score is not None:
                    side = by_score[name][line["source"] == "fresh"]
                    side.setdefault(line["package"], []).append(score)
        usable = {name: sides for name, sides in by_score.items() if all(sides)}
        few = min((sum(map(len, side.values())) for sides in usable.values() for side in sides), default=0)
        if few >= 10:
            cells_of[model] = {name: area_cell(sides) for name, sides in usable.items()}
            bits = [
                [-each["bits"] for each in probed if (each["source"] == "fresh") is at]
                for at in (False, True)
            ]
            cells_of[model]["blind: how well a function compresses, without a model"] = {
                "auc": area(*bits),
                "low": None,
            }
    return cells_of


def shown(cell):
    if cell is None:
        return None
    ends = "" if cell["low"] is None else f" [{cell['low']:.2f}, {cell['high']:.2f}]"
    return f"{cell['auc']:.2f}{ends}"


def judged(pairs):
    return [p for p in pairs if None not in (p["original_right"], p["counterfactual_right"])]


def changed(lines, kind="pairs", *, only=bool):
    """Whether the verdict changed, by package, of pairs with a right side."""
    for line in lines:
        for pair in judged(line[kind]):
            right = pair["original_right"] or pair["counterfactual_right"]
            if right and only(pair):
                yield line["package"], pair["original_right"] != pair["counterfactual_right"]


def sides_of(lines):
    return {
        side: [line for line in lines if (line["source"] == "fresh") is (side == "fresh")] for side in SIDES
    }


SIDES = ("seen", "fresh")


def effects(models):
    """Effects beside recognition: one row for each model and kind of code."""
    for model, lines in models.items():
        for side, own in sides_of(lines).items():
            probed = [line for line in own if line["pairs"] and judged(line["pairs"])]
            originals = [(line["package"], judged(line["pairs"])[0]["original_right"]) for line in probed]
            signed = [
                (line["package"], pair["original_right"] - pair["counterfactual_right"])
                for line in probed
                for pair in judged(line["pairs"])
                if pair["original_right"] or pair["counterfactual_right"]
            ]
            exposing = share(changed(own, only=lambda pair: pair["discriminating"]))
            row = [len(probed), share(originals), share(changed(own)), share(changed(own, "placebos"))]
            yield [model, side, *row, exposing, average(signed)]


def beside(lines, kind="pairs"):
    """The effect on seen code less that on fresh code, resampling packages."""
    groups = defaultdict(list)
    for at, side in enumerate(sides_of(lines).values()):
        for package, value in changed(side, kind):
            groups[at, package].append(value)

    def figure(drawn):
        sides = [[value for side, values in drawn if side == at for value in values] for at in (False, True)]
        return float(np.mean(sides[0]) - np.mean(sides[1])) if all(sides) else None

    return bootstrap([(side, values) for (side, _), values in groups.items()], figure, resamples=RESAMPLES)


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    scored = lines_of([folder for folder in folders if "effects" not in folder.name])
    completed = lines_of([folder for folder in folders if "effects" in folder.name])
    cells_of = areas(scored)
    names = list(dict.fromkeys(name for cells in cells_of.values() for name in cells))
    heads = [f"{m}, {sum(n.get('source') != 'fresh' for n in scored[m])} seen" for m in cells_of]
    untold = lambda cells: "yes" if any(c["low"] and c["low"] > 0.5 for c in cells) else "cannot be told"  # noqa: E731
    rows = []
    for name in names:
        cells = [cells[name] for cells in cells_of.values()]
        rows.append([name, *map(shown, cells), "" if name.startswith("blind") else untold(cells)])
    told = []
    for model, lines in completed.items():
        cell = beside(lines)
        told.append(["pairs on seen code lose more than on fresh code", model, cell, conclude(cell)])
    return {
        "areas": (["score", *heads, "tells seen from fresh"], rows),
        "effects": (
            [
                *("model", "code", "functions", "original right", "verdict changed", "by placebos"),
                *("on discriminating pairs", "lost less gained"),
            ],
            list(effects(completed)),
        ),
        "conclusions": (["question", "model", "difference", "here"], told),
    }
