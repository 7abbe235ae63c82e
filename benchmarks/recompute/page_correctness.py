"""The tables of docs/results/correctness.md, from kept records; imports nothing from Counterlens."""

from __future__ import annotations

from correctness import tables

HEADS = {
    "confidence and correctness": [
        *("model", "pieces", "n", "functions", "right", "AUROC", "Brier skill", "calibration error"),
    ],
    "reliability of chances": ["model", "pieces", "chance", "mean chance", "right", "count"],
    "code that people wrote": ["model", "pieces", "n", "median chance", "below the base rate"],
    "statements of completions that fail": ["model", "statements", "functions", "right", "AUROC"],
    "statements by kind": ["model", "kind", "statements", "mean probability", "right"],
    "statements by confidence": ["model", "mean probability", "right", "share"],
}


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    by_folder = [tables(folder) for folder in folders]
    return {
        title: (head, [row for each in by_folder for row in each[title]]) for title, head in HEADS.items()
    }
