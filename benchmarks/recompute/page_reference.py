"""The table of docs/results/reference.md, from kept records; imports nothing from Counterlens."""

from __future__ import annotations

from reference import tables

TITLES = {
    "humaneval": "HumanEval",
    "humaneval+": "HumanEval+",
    "mbpp": "MBPP, the problems of MBPP+",
    "mbpp-whole": "MBPP, all problems",
    "mbpp+": "MBPP+",
    "humaneval-java": "HumanEval, Java",
    "cruxeval-o": "CRUXEval-O",
    "cruxeval-i": "CRUXEval-I",
    "cruxeval-o-steps": "CRUXEval-O, step by step",
    "cruxeval-i-steps": "CRUXEval-I, step by step",
    "fim-line": "HumanEval-FIM, single line",
    "fim-line-java": "HumanEval-FIM in Java, single line",
}


def page(folders):
    """The scores of all runs: for the title of the table, its head and rows."""
    head = ["model", "score", "n", "yours", "published", "agrees", "cut off"]
    rows = []
    for folder in folders:
        for model, score, n, yours, published, agrees, cut in tables(folder)["usual scores"]:
            rows.append([model, TITLES[score], str(n), yours, published, agrees, str(cut)])
    return {"usual scores": (head, rows)}
