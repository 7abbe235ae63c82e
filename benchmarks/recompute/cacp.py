"""The tables of Hooda et al. 2024, from exported Parquet: `python benchmarks/recompute/cacp.py FOLDER...`.

Written from the paper (sections 3.4, 4.3 and 5.2) and docs/statistics.md; imports nothing from Counterlens.
FOLDER is the output of `counterlens export` for a run of completion or repair with `--protocol cacp`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow.parquet as pq
from intervals import average, share

MUTATIONS = ["rename-random", "rename-shuffle", "if-else-flip", "independent-swap", "def-use-break"]
OPERATORS = [("==", "!="), (">", "<="), ("<", ">="), ("is", "is not"), ("in", "not in")]


def informative(pairs):
    """The pairs with a right side."""
    return [p for p in pairs if p["original_right"] or p["counterfactual_right"]]


def effect(pairs):
    """Section 4.3: the share of pairs with different verdicts, among the pairs with a right side."""
    return share((p["problem"], p["original_right"] != p["counterfactual_right"]) for p in informative(pairs))


def judged(pairs):
    return [p for p in pairs if p["original_right"] is not None and p["counterfactual_right"] is not None]


def originals(pairs):
    """The verdicts of the originals of judged pairs, each once, by function; a repair has no cut."""
    cut = lambda p: p["cut"]["original"] if p["cut"] and not p.get("repair") else 0  # noqa: E731
    right = {(p["problem"], cut(p)): p["original_right"] for p in judged(pairs)}
    return [(problem, verdict) for (problem, _), verdict in right.items()]


def row(pairs, mutations):
    """The original accuracy, with every original once, and the effect of each mutation."""
    cells = [share(originals([p for p in pairs if p["mutation"] in MUTATIONS]))]
    for name in mutations:
        some = [p for p in pairs if p["mutation"] == name]
        cells.append(effect(judged(some)) if some else None)
    return cells


def telling(pairs):
    """All pairs of the paper's mutations and those of each, also where the original's rest fails."""
    for name in ["all", *sorted({p["mutation"] for p in pairs})]:
        names = MUTATIONS if name == "all" else [name]
        known = judged(some := [p for p in pairs if p["mutation"] in names])
        there = [p for p in known if p.get("discriminating")]
        if any(p.get("discriminating") is not None for p in known):
            rest = effect(there), share((p["problem"], p["copied"]) for p in there)
            yield [name, len(some), effect(known), len(there), rest[0]["n"], *rest]


def tables(folder):
    task = "completion" if (folder / "completion-pairs.parquet").exists() else "repair"
    models = list(dict.fromkeys(pq.read_table(folder / "records.parquet")["model"].to_pylist()))
    pairs = pq.read_table(folder / f"{task}-pairs.parquet").to_pylist()
    pairs = [p | {"repair": task == "repair"} for p in pairs]
    of = {model: [p for p in pairs if p["model"] == model] for model in models}
    added = sorted({p["mutation"] for p in pairs} - {*MUTATIONS})
    found = {}
    if any(p.get("cut_range") for p in pairs):
        names = [name for name in (*MUTATIONS, *added) if name != "if-else-flip"]
        rows = []
        for model, own in of.items():
            for one in sorted({tuple(p["cut_range"]) for p in own}):
                some = [p for p in own if tuple(p["cut_range"]) == one]
                of_paper = sum(p["mutation"] in MUTATIONS for p in some)
                rows.append([model, f"{one[0]:g} - {one[1]:g}", *row(some, names), of_paper])
        found["average mutation effect by cut"] = rows
    else:
        title = "average mutation effect" + (", repair" if task == "repair" else "")
        found[title] = [[model, *row(own, [*MUTATIONS, *added])] for model, own in of.items()]
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
        counts = {name: sum(d[0] == name for d in distinct) for name in (*MUTATIONS, *added)}
        own = [counts[name] for name in MUTATIONS]
        rows.append([model, *own, sum(own), *(counts[name] for name in added)])
    found["counterfactual pairs"] = rows
    return found


if __name__ == "__main__":
    print(json.dumps({str(folder): tables(Path(folder)) for folder in sys.argv[1:]}, indent=2))
