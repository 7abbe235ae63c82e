"""The tables of docs/results/astxplainer.md, from kept records; imports nothing from Counterlens.

A folder named `…-fresh-…` has functions that the models cannot have seen, one named `…-older-…` functions of
old releases; all others have HumanEval.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
from astxplainer import CATEGORIES, means, medians, own, table_two
from intervals import bootstrap, conclude, kept_rows, size
from printed import printed

SEED = 1
PAPER = {
    row["model"]: row
    for row in printed("astxplainer", "I")
    if row["model"] in {"gpt-neo-125m", "codegen-2B-mono"}
}
"""Table I: the means of the medians of node types, of the smallest and the largest model."""
EFFECTS = {
    row["concept"]: tuple(row[f"effect, {model}"] for model in PAPER) for row in printed("astxplainer", "II")
}
"""Table II: the effect on cross-entropy."""
TYPES = [
    ["natural language, gpt-3 (paper)", 3, 0.56],
    ["natural language, codegen (paper)", 2, 0.60],
    ["several programming languages (paper)", 3, 0.68],
    ["Python (paper)", 4, 0.72],
]
"""The means of the column Global of Table I, by type of model."""
NAMES = ("global", *CATEGORIES)


def by_function(rows):
    """Counterlens's own definition: the mean confidence of each function in each category."""
    grouped = defaultdict(list)
    for row in rows:
        grouped[row["problem"]].append(row)
    return {problem: own(nodes) for problem, nodes in grouped.items()}


def median_of(groups):
    return float(np.median(groups)) if groups else None


def mean_of(groups):
    return float(np.mean(groups)) if groups else None


def table_one(of):
    """Table I: mean over node types, with its standard error; node types whose nodes are all in one place."""
    types = {model: medians(nodes, SEED) for model, (_, nodes) in of.items()}
    figures = {model: {row[0]: row for row in means(rows)} for model, rows in types.items()}
    for name in NAMES:
        known = next(iter(types.values()), [])
        inside = [row for row in known if name in ("global", row[0])]
        kinds = sum(map(len, map(str.split, CATEGORIES.values()))) if name == "global" else None
        total = kinds or len(CATEGORIES[name].split())
        cells = [f"{len(inside)} of {total}", ", ".join(f"`{row[1]}`" for row in inside if row[3] == 1)]
        if name == "global":
            cells[1] = sum(row[3] == 1 for row in inside)
        for rows in figures.values():
            row = rows.get(name)
            spread = "" if row is None or row[3] is None else f" ± {row[3]:.2f}"
            cells.append(None if row is None else f"{row[2]:.2f}{spread}")
        yield [name, *cells, *(row[name] for row in PAPER.values())]


def intervals_of(functions):
    """Our definition: the median over functions, by model and category, with its interval."""
    for name in NAMES:
        cells = []
        for known in functions.values():
            values = [of[name] for of in known.values() if name in of]
            cells.append(interval(bootstrap(values, median_of)))
        yield [name, *cells]


def interval(cell):
    if cell["value"] is None:
        return None
    ends = "" if cell["low"] is None else f" [{cell['low']:.2f}, {cell['high']:.2f}]"
    few = f", n = {cell['n']}" if cell["n"] < 10 else ""
    return f"{cell['value']:.2f}{ends}{few}"


def effects(of):
    """Table II, for the concepts in their order."""
    of_model = {model: table_two(records, nodes, SEED) for model, (records, nodes) in of.items()}
    for name in next(iter(of_model.values()), {}):
        cells = []
        for tables in of_model.values():
            value, low, high = tables[name][-3:]
            ends = "" if low is None else f" [{low:+.2f}, {high:+.2f}]"
            cells.append(None if value is None else f"{value:+.2f}{ends}")
        yield [name if name == "all concepts" else f"`{name}`", *cells, *EFFECTS.get(name, ("", ""))]


def difference(older, fresh, name):
    """The mean over older functions less that over fresh ones, resampling packages."""
    groups = defaultdict(list)
    for side, known in enumerate((older, fresh)):
        for problem, figures in known.items():
            if name in figures:
                groups[side, problem.split("/")[0]].append(figures[name])

    def figure(drawn):
        sides = [[value for side, values in drawn if side == at for value in values] for at in (0, 1)]
        return float(np.mean(sides[0]) - np.mean(sides[1])) if all(sides) else None

    return bootstrap([(side, values) for (side, _), values in groups.items()], figure)


def by_type(of):
    """The mean over models of the column Global, by what they were mostly trained on."""
    grouped = defaultdict(list)
    for model, (_, nodes) in of.items():
        kind = "natural language (here)" if "coder" not in model else "several programming languages (here)"
        grouped[kind].append(means(medians(nodes, SEED))[0][2])
    return [[kind, len(values), mean_of(values)] for kind, values in grouped.items()]


def seen_and_fresh(older, fresh):
    """Mean confidence on code of old releases and on code published after the training, by category."""
    for model in sorted(older.keys() & fresh.keys(), key=size):
        for name in NAMES:
            sides = [[of[name] for of in known[model].values() if name in of] for known in (older, fresh)]
            if all(sides):
                cells = [len(sides[0]), len(sides[1]), *(mean_of(side) for side in sides)]
                yield [model, name, *cells, difference(older[model], fresh[model], name)]


def conclusions(of, functions, older, fresh):
    """What the paper concludes, as a figure that is positive if it holds."""
    rows = []
    for model, known in functions.items():
        for text, one, other in (
            ("it is surer of loops than of the whole", "iteration", "global"),
            (
                "it is less sure of names, strings and comments than of the whole",
                "global",
                "natural language",
            ),
        ):
            values = [o[one] - o[other] for o in known.values() if one in o and other in o]
            rows.append([text, model, bootstrap(values, mean_of)])
        value, low, high = table_two(*of[model], SEED)["all concepts"][-3:]
        cell = {"value": None, "low": None, "high": None, "n": len(known)}
        if low is not None:
            cell |= {"value": -value, "low": -high, "high": -low}
        rows.append(["confidence lowers the loss (Table II)", model, cell])
    for small, large in combinations(functions, 2):
        pairs = [
            functions[large][p]["global"] - functions[small][p]["global"]
            for p in sorted(functions[small].keys() & functions[large].keys())
        ]
        rows.append(["the larger model is surer", f"{small}, {large}", bootstrap(pairs, mean_of)])
    for model in sorted(older.keys() & fresh.keys(), key=size):
        cell = difference(older[model], fresh[model], "global")
        rows.append(["ours: it is surer of code that it can have seen", model, cell])
    return [[*row, conclude(row[2])] for row in rows]


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    named = lambda part: [folder for folder in folders if part in folder.name]  # noqa: E731
    apart = {part: named(f"-{part}-") for part in ("fresh", "older")}
    rest = [folder for folder in folders if folder not in apart["fresh"] + apart["older"]]
    of = kept_rows(rest, "confidence", "confidence-types")
    functions, older, fresh = (
        {model: by_function(nodes) for model, nodes in kept_rows(some, "confidence-types").items()}
        for some in (rest, apart["older"], apart["fresh"])
    )
    return {
        "Table I": (["category", "node types", "from one place", *of, *PAPER], list(table_one(of))),
        "own definition": (["category", *functions], list(intervals_of(functions))),
        "Table II": (["concept", *of, *PAPER], list(effects(of))),
        "seen and fresh": (
            ["model", "category", "older functions", "fresh functions", "older", "fresh", "difference"],
            list(seen_and_fresh(older, fresh)),
        ),
        "types of model": (["type of model", "models", "global"], [*by_type(of), *TYPES]),
        "size": (
            ["model", "functions", "tokens"],
            [[model, len(rows), sum(row["tokens"] for row in rows)] for model, (rows, _) in of.items()],
        ),
        "conclusions": (
            ["the paper's conclusion", "model", "figure", "here"],
            conclusions(of, functions, older, fresh),
        ),
    }
