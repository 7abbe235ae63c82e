"""The tables of docs/results/empica.md, from kept records; imports nothing from Counterlens."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from empica import BREAK, KEEP, MEASURES, table_7, tables
from intervals import bootstrap, conclude, kept_rows, rate

SEED = 1
PAPER = {
    "summary, semantic": ("0.90 to 0.92", "0.08 to 0.10"),
    "summary, lexical": ("0.75 to 0.88", "0.16 to 0.26"),
    "name, exact match": ("0.40 to 0.56", "0.56 to 0.65"),
    "name, F1": ("0.65 to 0.76", "0.30 to 0.39"),
    "output, equal": ("0.53 to 0.67", "0.37 to 0.57"),
}
"""Tables 3 to 5, Python, over the four models."""
PASSED = [["the paper's four models", "", "36 % to 73 %", ""]]
SHOWN = tuple(PAPER)


def estimate(cell):
    """A figure of the script with its interval, as a cell."""
    if cell is None or cell[0] is None:
        return None
    value, low, high = cell
    return f"{value:.2f}" if low is None else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def follows(pairs, measure):
    """Robustness and sensitivity, less 1: 0 if answers do not depend on the meaning, 1 if they follow it.

    Over functions, and pooled over all changes. A model that always answers the same has robustness 1 and
    sensitivity 0; one that answers at random has r and 1 - r.
    """
    functions = defaultdict(lambda: ([], []))
    for pair in pairs:
        alike = pair["similarity"].get(measure)
        if alike is not None and pair["mutation"] in (*KEEP, *BREAK):
            kept = pair["mutation"] in KEEP
            functions[pair["problem"]][not kept].append(alike if kept else 1 - alike)

    def figure(groups):
        sides = [[value for group in groups for value in group[at]] for at in (0, 1)]
        return float(np.mean(sides[0]) + np.mean(sides[1]) - 1) if all(sides) else None

    return bootstrap(list(functions.values()), figure, SEED)


def figures_of(model, task, pairs, found):
    """Tables 3 to 5 of one model and task: a row for each kind of answer."""
    for title in SHOWN:
        name = title.partition(", ")[2]
        both = [found.get(f"table 3 to 5, {name}, {kind}") for kind in ("robustness", "sensitivity")]
        if title.startswith(task) and None not in both:
            cell = follows(pairs, name) if name != "lexical" else None
            counts = [f"{side[1]} in {side[2]} functions" for side in both]
            shown = [estimate(side[3]) for side in both]
            yield [model, title, *counts, *shown, cell, "; ".join(PAPER[title])]


def operators_of(model, task, found):
    """Table 6: a row for each operator."""
    for title in SHOWN:
        name = title.partition(", ")[2]
        for kind in (*KEEP, *BREAK) if title.startswith(task) else ():
            row = found.get(f"table 6, {name}, {kind}")
            if row and row[0]:
                what = "robustness" if kind in KEEP else "sensitivity"
                yield [model, title, kind, what, row[0], estimate(row[1])]


def correct_of(model, task, found):
    """Figure 7: the figures of functions that the model writes right and wrong."""
    for key, row in found.items():
        if key.startswith("figure 7"):
            _, name, kind = key.split(", ")
            yield [model, f"{task}, {name}", kind, row[0], row[1], *map(estimate, row[2:4]), *row[4:]]


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    passed, figures, operators, correct = [], [], [], []
    for task, measures in MEASURES.items():
        for model, (pairs, records) in kept_rows(folders, f"{task}-pairs", task).items():
            found = tables(pairs, records, measures, SEED)
            known = [record["passed"] for record in records if record["passed"] is not None]
            passed.append([model, task, rate(known), len({pair["problem"] for pair in pairs})])
            figures += figures_of(model, task, pairs, found)
            operators += operators_of(model, task, found)
            correct += correct_of(model, task, found)
    seven = [
        [model, key.removeprefix("table 7, "), row[0], *map(estimate, row[1:])]
        for model, edges in kept_rows(folders, "dependence-edges").items()
        for key, row in table_7(edges, SEED).items()
    ]
    text = "answers follow the meaning, not the form"
    conclusions = [[f"{text}: {row[1]}", row[0], row[6], conclude(row[6])] for row in figures if row[6]]
    head = ["model", "answer", "kept", "broken", "robustness", "sensitivity", "follows the meaning"]
    return {
        "Table 2": (["model", "task", "writes it right", "functions asked about"], [*passed, *PASSED]),
        "Tables 3 to 5": ([*head, "the paper"], figures),
        "Table 6": (["model", "answer", "change", "figure", "n", "value"], operators),
        "Figure 7": (
            [
                *("model", "answer", "figure", "right programs", "wrong programs"),
                *("right", "wrong", "p", "p (Holm)"),
            ],
            correct,
        ),
        "Table 7": (["model", "relation", "functions", "precision", "recall", "F1"], seven),
        "conclusions": (["the paper's conclusion", "model", "figure", "here"], conclusions),
    }
