"""The tables of docs/results/cacp.md, from kept records; imports nothing from Counterlens.

Besides exported runs, a folder may have the lines of `benchmarks/counterfactual_pairs.py`. The rows of one
model are pooled over all folders.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
from cacp import MUTATIONS, OPERATORS, effect, informative, judged, row, telling
from intervals import average, conclude, difference, kept_rows, share, tested
from printed import percent, printed

SHORT = ["random", "shuffle", "flip", "swap", "def-use"]
SIDES = ("original", "counterfactual")
PAPER = {
    "effects": ("HumanEval and MBPP", ["StarCoder (13B)", "Llama 2 (7B)", "Code Llama (7B)", "GPT-4"]),
    "whole programs": ("CodeContests", ["StarCoder (13B)", "GPT-4"]),
}
"""The rows of the paper's Table 2 that are shown: its data and models."""


def signed(pairs):
    """Lost less gained verdicts, as a share of the informative pairs; n counts functions."""
    right = informative(judged(pairs))
    return tested((p["problem"], p["original_right"] - p["counterfactual_right"]) for p in right)


def strict(pair):
    """The pair, with contested passes as failures."""
    sides = {f"{side}_right": pair[f"{side}_right"] and not pair[side]["contested"] for side in SIDES}
    return pair | sides


def contested(pairs):
    """Passes, those that do otherwise than the original on an input, and what is left of the effect."""
    known = judged(pairs)
    passes = [(p["problem"], p[side]["contested"]) for p in known for side in SIDES if p[f"{side}_right"]]
    right = informative(known)
    lost = sum(p["original_right"] > p["counterfactual_right"] for p in right)
    gained = sum(p["original_right"] < p["counterfactual_right"] for p in right)
    return [share(passes), effect(known), effect([strict(p) for p in known]), lost, gained, signed(known)]


def by_problem(pairs):
    grouped = defaultdict(list)
    for pair in informative(judged(pairs)):
        grouped[pair["problem"]].append(pair["original_right"] != pair["counterfactual_right"])
    return grouped


def change(some, others):
    """The effect of some pairs less that of others, with an interval over all functions of both."""
    first, second = by_problem(some), by_problem(others)
    return difference([(first[p], second[p]) for p in {**first, **second}])


def correlations(pairs):
    """Figure 4: Pearson's correlation of the effects of two mutations, over functions that have both."""
    of = {name: by_problem([p for p in pairs if p["mutation"] == name]) for name in MUTATIONS}
    for one, other in combinations(MUTATIONS, 2):
        both = [(np.mean(of[one][p]), np.mean(of[other][p])) for p in of[one] if p in of[other]]
        if both:
            varies = len(both) >= 10 and all(len(set(side)) > 1 for side in zip(*both, strict=True))
            r = f"{np.corrcoef(*zip(*both, strict=True))[0, 1]:+.2f}" if varies else None
            yield [one, other, len(both), r or ("fewer than ten" if len(both) < 10 else "no variance")]


def by_operator(pairs):
    """Table 3: right completions lost when the condition's comparison is replaced by its complement."""
    for first, second in OPERATORS:
        lost = [
            [
                (p["problem"], p["original_right"] - p["counterfactual_right"])
                for p in judged(pairs)
                if p["operators"] == both
            ]
            for both in ([first, second], [second, first])
        ]
        if any(lost):
            yield [f"`{first}`", f"`{second}`", *map(average, lost), *map(len, lost)]


def exposing(pairs):
    """The pairs on which a copied completion fails."""
    return [p for p in pairs if p["discriminating"]]


def conclusions(of):
    """What the paper concludes, as a figure that is positive if it holds."""
    names = ("rename-random", "rename-shuffle")
    for model, pairs in of.items():
        named = [p for p in pairs if p["mutation"] in names]
        swaps = [p for p in pairs if p["mutation"] == "independent-swap"]
        flips = [p for p in pairs if p["mutation"] == "if-else-flip"]
        for text, cell in (
            ("new names lose more verdicts than they gain", signed(named)),
            ("flipped branches lose more verdicts than they gain", signed(flips)),
            ("swapped statements cost less than new names", change(named, swaps)),
        ):
            yield [text, model, cell, conclude(cell)]
    for small, large in combinations(of, 2):
        shared = {p["problem"] for p in of[small]} & {p["problem"] for p in of[large]}
        sides = [[p for p in of[m] if p["problem"] in shared] for m in (small, large)]
        for text, chosen in (
            ("the larger model loses less (Figure 3)", sides),
            ("ours: it loses less on pairs that expose copying", [exposing(side) for side in sides]),
        ):
            cell = change(*chosen)
            yield [text, f"{small}, {large}", cell, conclude(cell)]


def floors(of, placebos):
    """Beside each effect the share of informative pairs that change without a reason: the noise floor."""
    for model, pairs in of.items():
        if model in placebos:
            chosen = {p["problem"] for p in placebos[model]}
            less = change([p for p in pairs if p["problem"] in chosen], placebos[model])
            yield [model, len(pairs), effect(judged(pairs)), effect(judged(placebos[model])), less]


def table_one(folders):
    """Table 1 from lines without a model: sites, and functions with one, as the paper may count."""
    files = [file for folder in folders for file in folder.glob("*.jsonl.gz")]
    lines = [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]
    count = Counter(p["mutation"] for line in lines for p in line["pairs"])
    exposing = Counter(p["mutation"] for line in lines for p in line["pairs"] if p["discriminating"])
    functions = Counter(name for line in lines for name in {p["mutation"] for p in line["pairs"]})
    paper = {name: int(printed("cacp", "1")[0][name]) for name in MUTATIONS}
    of = lambda name: [count[name], functions[name], exposing[name], paper[name]]  # noqa: E731
    rows = [[name, *of(name)] for name in MUTATIONS]
    some = sum(bool(line["pairs"]) for line in lines)
    return [*rows, ["all", count.total(), some, exposing.total(), sum(paper.values())]], lines


def of_paper(row, names):
    """The cells of a row of the paper: the model's name, and what is in some columns, in percent."""
    return [row["model"], *(percent(row.get(name)) for name in ("original accuracy", *names))]


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    of, repairs = kept_rows(folders, "completion-pairs"), kept_rows(folders, "repair-pairs")
    cuts = {m: [p for p in pairs if p.get("cut_range")] for m, pairs in of.items()}
    once = {m: rest for m, pairs in of.items() if (rest := [p for p in pairs if not p.get("cut_range")])}
    tables_of = {
        "average mutation effect": (
            ["model", "original right", *SHORT],
            [[m, *row(pairs, MUTATIONS)] for m, pairs in once.items()],
        ),
        "discriminating pairs": (
            [
                *("model", "mutation", "pairs", "effect", "discriminating", "informative there"),
                *("effect there", "copied there"),
            ],
            [[m, *line] for m, pairs in once.items() for line in telling(pairs)],
        ),
        "contested passes": (
            [
                *("model", "contested of all passes", "effect", "effect without contested passes"),
                *("lost", "gained", "lost less gained"),
            ],
            [[m, *contested(pairs)] for m, pairs in once.items()],
        ),
        "correlation of effects": (
            ["model", "mutation", "other mutation", "functions with both", "correlation"],
            [[m, *line] for m, pairs in once.items() for line in correlations(pairs)],
        ),
        "complementary operators": (
            ["model", "A", "B", "A to B", "B to A", "pairs", "pairs back"],
            [
                *([m, *line] for m, pairs in once.items() for line in by_operator(pairs)),
                *(
                    [
                        *(p["model"], f"`{p['op A']}`", f"`{p['op B']}`"),
                        *(f"{float(p[side]) / 100:+.2f}" for side in ("Δ(A→B)", "Δ(B→A)")),
                        *("", ""),
                    ]
                    for p in printed("cacp", "3")
                ),
            ],
        ),
        "conclusions": (["the paper's conclusion", "model", "figure", "here"], list(conclusions(once))),
        "counterfactual pairs": (
            ["model", *SHORT, "all"],
            [
                [m, *(sum(p["mutation"] == name for p in pairs) for name in MUTATIONS), len(pairs)]
                for m, pairs in once.items()
            ],
        ),
    }
    table_two = {(p["data"], p["model"]): of_paper(p, MUTATIONS) for p in printed("cacp", "2")}
    for name, (data, models) in PAPER.items():
        head, rows = tables_of["average mutation effect"]
        paper = [table_two[data, model] for model in models]
        tables_of[f"average mutation effect, {name}"] = head, [*rows, *paper]
    names = [name for name in MUTATIONS if name != "if-else-flip"]
    rows = [
        [m, f"{at[0]:g} - {at[1]:g}", *row(chosen, names), len(chosen)]
        for m, pairs in cuts.items()
        for at in sorted({tuple(p["cut_range"]) for p in pairs})
        if (chosen := [p for p in pairs if tuple(p["cut_range"]) == at])
    ]
    head = ["model", "cut", "original right", *(name for name in SHORT if name != "flip"), "pairs"]
    paper = [[p["model"], p["prefix ratio"], *of_paper(p, names)[1:], ""] for p in printed("cacp", "4")]
    tables_of["average mutation effect by cut"] = head, [*rows, *paper]
    rows = [[m, *row([p | {"repair": True} for p in pairs], MUTATIONS)] for m, pairs in repairs.items()]
    tables_of["average mutation effect, repair"] = (
        ["model", "original repaired", *SHORT],
        [*rows, *(of_paper(p, MUTATIONS) for p in printed("cacp", "5"))],
    )
    rows = list(floors(of, kept_rows(folders, "completion-placebos")))
    tables_of["noise floor"] = ["model", "pairs", "effect", "noise floor", "effect beyond it"], rows
    rows, lines = table_one(folders)
    head = ["mutation", "pairs here", "functions with one", "discriminating", "the paper's pairs"]
    if lines:
        tables_of["Table 1"] = head, rows
    return tables_of
