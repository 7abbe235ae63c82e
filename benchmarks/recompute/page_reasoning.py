"""The tables of docs/results/reasoning.md, from kept records; imports nothing from Counterlens."""

from __future__ import annotations

from intervals import conclude
from reasoning_robustness import PLACEBO, tables

HEADS = {
    "accuracy": ["model", "program", "functions", "cut off", "right"],
    "drop under each mutation": [
        *("model", "mutation", "functions", "before", "after"),
        *("difference", "relative drop", "lost", "gained", "p"),
    ],
    "stability of right answers": ["model", "mutation", "right before", "of these, changed"],
}


def written(value):
    """A cell as text, unless it is a figure with an interval."""
    if isinstance(value, dict) or value is None:
        return value
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def page(folders):
    """The tables of all runs: for each title, its head and rows."""
    computed = {title: (head, []) for title, head in HEADS.items()}
    conclusions = []
    for folder in folders:
        measured = tables(folder)
        for title, rows in measured.items():
            computed[title][1].extend([written(value) for value in row] for row in rows)
        for model, mutation, *_, less, _, _, _, p in measured["drop under each mutation"]:
            if mutation == PLACEBO or less["low"] is None:
                continue
            ends = {"value": 0 - less["value"], "low": 0 - less["high"], "high": 0 - less["low"]}
            tested = {**less, **ends, "p": 1.0 if p is None else p}
            conclusions.append([model, f"accuracy drops with {mutation}", tested, conclude(tested)])
    computed["conclusions"] = (["model", "conclusion", "drop", ""], conclusions)
    return computed
