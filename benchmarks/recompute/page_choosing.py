"""The tables of docs/results/choosing.md, from kept records; imports nothing from Counterlens.

A package has two folders: `choosing-usual-PACKAGE`, a run with usual cuts, and `choosing-holes-PACKAGE`, one
with the holes that commits left, each with the same models. The last table compares the two largest models.
"""

from __future__ import annotations

from collections import defaultdict

from cacp import informative, judged, originals
from intervals import conclude, difference, kept_rows, share

FIRST = ("choosing-usual-", "choosing-holes-")


def by_package(folders):
    """The folders of each package, of the runs with usual cuts and with holes."""
    packages = defaultdict(lambda: ([], []))
    for folder in folders:
        for which, first in enumerate(FIRST):
            if folder.name.startswith(first):
                packages[folder.name.removeprefix(first)][which].append(folder)
    if len(packages) > 1:
        usual, holes = ([f for of in packages.values() for f in of[at]] for at in (0, 1))
        packages["all"] = usual, holes
    return packages


def held(pairs):
    """Whether the verdict stays, for each informative pair: one less the average mutation effect."""
    told = informative(judged(pairs))
    return [(p["problem"], p["original_right"] == p["counterfactual_right"]) for p in told]


def filled(holes):
    """Whether each judged hole was filled with code that passes, by function."""
    return [(hole["problem"], hole["right"]) for hole in holes if hole["right"] is not None]


def advantage(larger, smaller):
    """The mean of some values of one model less that of another, over the functions that both have."""
    sides = defaultdict(list), defaultdict(list)
    for grouped, values in zip(sides, (larger, smaller), strict=True):
        for problem, value in values:
            grouped[problem].append(float(value))
    return difference(
        [(values, sides[1][problem]) for problem, values in sides[0].items() if problem in sides[1]]
    )


def verdict(one, other):
    """Whether the ranking by one figure is that by the other; only differences that are shown count."""
    told = conclude(one), conclude(other)
    if "cannot be told" in told:
        return "cannot be told"
    return "yes" if told[0] == told[1] else "no"


def rows_of(packages):
    """The rows of the three tables."""
    usual_rows, hole_rows, prediction = [], [], []
    for package, (usual, holes) in packages.items():
        pairs, left = kept_rows(usual, "completion-pairs"), kept_rows(holes, "completion-holes")
        for model, own in pairs.items():
            figures = [share(originals(own)), len(held(own)), share(held(own))]
            usual_rows.append([package, model, len({p["problem"] for p in own}), *figures])
        for model, own in left.items():
            after = [hole for hole in own if hole["after_training"]]
            cells = [share(filled(own)), len(filled(after)), share(filled(after))]
            hole_rows.append([package, model, len({h["problem"] for h in own}), len(filled(own)), *cells])
        both = [model for model in pairs if model in left]
        if len(both) > 1:
            smaller, larger = both[-2:]
            keeps = advantage(held(pairs[larger]), held(pairs[smaller]))
            right = advantage(originals(pairs[larger]), originals(pairs[smaller]))
            fills = advantage(filled(left[larger]), filled(left[smaller]))
            prediction.append([package, keeps, right, fills, verdict(keeps, fills), verdict(right, fills)])
    return usual_rows, hole_rows, prediction


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    usual, holes, prediction = rows_of(by_package(folders))
    who = ["package", "model", "functions"]
    return {
        "usual": ([*who, "original right", "informative pairs", "held"], usual),
        "holes": ([*who, "holes", "filled", "holes after the training", "of these filled"], holes),
        "prediction": (
            [
                "package",
                "held",
                "original right",
                "holes filled",
                "held predicts it",
                "original right predicts it",
            ],
            prediction,
        ),
    }
