"""The tables of docs/results/readings.md, from records of `benchmarks/readings.py`.

Imports nothing from Counterlens. A row is a function: its versions and, for the right code and the one with a
bug, why versions do not count, whether the likeliest behaves like the code, and the inputs on which at least
two versions of those that count agree with each other and not with the code. Of each input the record has the
outcomes in order: the code, the versions, and last the right solution; equal groups are equal outcomes. A
file whose name ends in BARE has the functions without the examples of their docstrings: no input is given.
A row with `stated` has the sides of a function that do not return what their docstring states.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter

from intervals import rate

BARE = "-without-examples"
RULES = [(fewest, share) for share in (0.8, 5 / 6, 1.0) for fewest in (2, 4, 6)]
GIVEN, DRAWN = (2, 1.0), (5, 5 / 6)  # in use by marks, where inputs are given and where none is
ALLOWED, FOLDS = 0.01, 5
FITTED = [(fewest, share) for fewest in (2, 3, 4, 5, 6) for share in (0.5, 0.65, 0.8, 5 / 6, 1.0)]


def rows_of(folders):
    """The rows of each model."""
    files = [file for folder in folders for file in sorted(folder.glob("*.jsonl.gz"))]
    return {
        file.name.removesuffix(".jsonl.gz"): [
            json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()
        ]
        for file in files
    }


def mark(side, rule=None):
    """The case that marks a side, with the group of most versions, and how many count; or nothing.

    Without a rule those in use decide.
    """
    counted = [at for at, reason in enumerate(side.get("dropped", ()), 1) if not reason]
    marks = []
    for case in () if side.get("alike") else side.get("cases", ()):
        groups, returned, texts = case["groups"], case["returned"], case["texts"]
        voting = [at for at in counted if returned[at] and groups[at] is not None]
        votes = Counter(groups[at] for at in voting if case["given"] or texts[at] != "returned None")
        if not votes or groups[0] is None or not (returned[0] or case["given"]):
            continue
        group, agreeing = votes.most_common(1)[0]
        like = case["given"] or case.get("like", True)
        if like is False:
            continue
        fewest, share = rule or (DRAWN if like is None else GIVEN)
        if texts[group] != texts[0] and agreeing >= max(fewest, share * len(counted)):
            marks.append((not case["given"], -agreeing, len(case["call"]), case, group, len(counted)))
    return min(marks, key=lambda each: each[:3]) if marks else None


def counts(rows, rule):
    """Whether each bug is marked, and truly; whether each right function is marked."""
    bugs, true, right = [], [], []
    for row in rows:
        for name, side in row["sides"].items():
            told = mark(side, rule)
            if name == "right":
                right.append(told is not None)
                continue
            bugs.append(told is not None)
            true.append(told is not None and told[3]["groups"][-1] == told[4])
    return true, bugs, right


def fitted(rows):
    """The rule with most true marks of those that mark few right functions."""

    def preference(rule):
        true, _, right = counts(rows, rule)
        few = sum(right) <= ALLOWED * len(right)
        return few, sum(true) if few else -sum(right), rule

    return max(FITTED, key=preference)


def on_others(rows):
    """The marks of each fifth by the rule that is fitted on the others."""
    total = [], [], []
    for fold in range(FOLDS):
        rule = fitted([row for number, row in enumerate(rows) if number % FOLDS != fold])
        for cells, more in zip(total, counts(rows[fold::FOLDS], rule), strict=True):
            cells += more
    return total


def named(rule):
    """A rule in words."""
    fewest, share = rule
    which = "all agree" if share == 1 else f"{share:.0%} agree".replace("%", " %")
    return f"{which}, at least {fewest}"


def together(files, stated):
    """What is marked by what docstrings state, by what a model reads in them as they are, and by either."""
    head = ["model", "functions", "marked", "by what is stated", "by readings", "by either"]
    lines, known = [], {row["id"]: row["stated"] for rows in stated.values() for row in rows}
    for model, rows in files.items():
        if model.endswith(BARE) or not known:
            continue
        for name in ("buggy", "right"):
            sides = [(row["id"], row["sides"].get(name, {})) for row in rows]
            seen = [(name in known.get(of, ()), mark(side) is not None) for of, side in sides]
            columns = [a for a, _ in seen], [b for _, b in seen], [a or b for a, b in seen]
            lines.append(
                [model, f"{len(rows)}", "with a bug" if name == "buggy" else "right", *map(rate, columns)]
            )
    return head, lines


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    rules, marks, files = [], [], rows_of(folders)
    stated = {name: files.pop(name) for name in list(files) if "stated" in files[name][0]}
    for file, rows in files.items():
        bare = file.endswith(BARE)
        model, docstrings = file.removesuffix(BARE), "without examples" if bare else "as they are"
        methods = [(named(rule), counts(rows, rule)) for rule in sorted({*RULES, DRAWN})]
        methods.append(("in use: the rule by whether an input is given", counts(rows, None)))
        methods.append(("fitted on four fifths, tried on the last", on_others(rows)))
        for name, cells in methods:
            rules.append([model, docstrings, f"{len(cells[0])}", name, *map(rate, cells)])
        for row in rows:
            for name, side in row["sides"].items():
                told = mark(side)
                if told is None:
                    continue
                *_, case, group, counted = told
                true = case["groups"][-1] == group
                said = "false" if name == "right" else "true" if true else "the input shows no bug"
                code, versions = (f"`{case['texts'][at]}`".replace("|", "\\|") for at in (0, group))
                call = f"`{case['call'][:60]}`".replace("|", "\\|")
                marks.append([f"{row['id']}, {name}", docstrings, call, code, versions, f"{counted}", said])
    head = [
        "model",
        "docstrings",
        "functions",
        "versions that must agree",
        "bugs marked truly",
        "bugs marked",
        "right functions marked",
    ]
    listed = ["function", "docstrings", "call", "the code", "versions", "that count", ""]
    return {"rules": (head, rules), "marks": (listed, marks), "together": together(files, stated)}
