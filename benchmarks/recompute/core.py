"""Computes every figure of the protocol core from an export, without code of Counterlens.

    counterlens export RUN --output FOLDER
    python benchmarks/recompute/core.py FOLDER [DATA/core]

Written from Xie et al. 2025 (CoRe) and docs/results/core.md. With the folder of the labels, the truth and the
direct steps come from them; without it, from the export. Prints a JSON document: the figures of each table,
by row and column, without their intervals.
"""

import json
import sys
from collections import deque
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as parquet

TASKS = {"data": "data dependence", "control": "control dependence", "infoflow": "information flow"}


def labels(path):
    """For each `name line`: whether it is assigned, and its direct data and control sources."""
    nodes, node, into = {}, {}, ""
    for row in path.read_text().split("variables:", 1)[1].splitlines():
        text = row.strip()
        if row.startswith("  ") and not row.startswith("   ") and text.endswith(":"):
            node = nodes[text[:-1]] = {"set": not text.startswith("Null "), "data": [], "control": []}
        elif text.lower().startswith("reset:"):
            node["set"] = node["set"] and "false" not in text.lower()
        elif text.startswith(("datadep", "controldep")):
            into = "data" if text.startswith("data") else "control"
        elif text.startswith("- "):
            node[into].append(" ".join(text[2:].split()))
    names = list(dict.fromkeys(name.split()[0] for name in nodes))
    return dict(sorted(nodes.items(), key=lambda item: names.index(item[0].split()[0])))


def parents(nodes, task):
    """The direct dependences of each node; for control, lines."""
    if task != "control":
        kinds = ("data",) if task == "data" else ("data", "control")
        return {name: {source for kind in kinds for source in one[kind]} for name, one in nodes.items()}
    found = {}
    for name, one in nodes.items():
        found.setdefault(name.split()[1], {source.split()[1] for source in one["control"]})
    return found


def back(before, node):
    """The number of steps from a node back to each node that it depends on."""
    seen, queue = {}, deque((one, 1) for one in before.get(node, ()))
    while queue:
        one, steps = queue.popleft()
        if one not in seen:
            seen[one] = steps
            queue.extend((other, steps + 1) for other in before.get(one, ()))
    return seen


def true_sources(nodes, task, target):
    """All sources of a target, as in CoRe's evaluation."""
    if task == "control":
        start = next((name for name in nodes if name.split()[1] == target), None)
        reached = back({name: one["control"] for name, one in nodes.items()}, start) if start else {}
        return {name.split()[1] for name in reached if name != start}
    reached = back(parents(nodes, task), target)
    return {name for name in reached if nodes[name]["set"] or (name == target and task == "data")}


def judged(told, before):
    """Shares of right and false steps of a trace, missing nodes, and whether it is right; zeros for none."""
    steps, right, false, missing = list(pairwise(told)), 0, 0, 0
    for start, end in steps:
        reached = back(before, end)
        right += start in before.get(end, ())
        false += start not in reached
        missing += reached.get(start, 1) - 1
    n = len(steps) or 1
    return right / n, false / n, missing, 0 < len(steps) == right


def of_sets(said, true):
    """Precision, recall and F1 of two sets, 1 if nothing can be wrong; and whether they are equal."""
    precision = len(said & true) / len(said) if said else 1.0
    recall = len(said & true) / len(true) if true else 1.0
    f = 2 * len(said & true) / (len(said) + len(true)) if said or true else 1.0
    return precision, recall, f, said == true


def means(rows):
    """The mean of each column."""
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)] or [None] * 4


def f1(pairs):
    """F1 of (said, true); 0 if nothing is said and nothing is true."""
    return 2 * sum(said and true for said, true in pairs) / (sum(said + true for said, true in pairs) or 1)


def of_yes(asked):
    """The rows of one task with yes/no questions."""
    yes, true = sum(one["said"] for one in asked), sum(one["true"] for one in asked)
    both = sum(one["said"] and one["true"] for one in asked)
    model, rule = (f1([(one[by], one["true"]) for one in asked]) for by in ("said", "ruled"))
    wrong = [(one["said"], one["true"]) for one in asked if one["ruled"] != one["true"]]
    right, unread = sum(one["said"] == one["true"] for one in asked), sum(not one["read"] for one in asked)
    mean = means([one["judged"] for one in asked if one["true"]])
    answers = {"questions": len(asked), "answer is yes": true, "accuracy": right / len(asked)}
    answers |= {"precision": both / yes if yes else 0.0, "recall": both / true if true else 0.0}
    yield "pairwise questions", answers | {"F1": model, "rule's F1": rule, "unreadable": unread}
    beside = {"F1": model, "rule's F1": rule, "difference": model - rule, "rule wrong": len(wrong)}
    beside["F1 if rule wrong"] = f1(wrong) if any(map(any, wrong)) else None
    yield "compared with rules without a model", beside
    traces = ("trace precision", "false edge rate", "missing nodes", "correct trace rate")
    yield "traces of questions answered by yes", {"questions": true, **dict(zip(traces, mean, strict=True))}


def of_sources(listed):
    """The row of one task with questions about sources."""
    sets = [[set(one[by]) for by in ("said_sources", "ruled_sources", "sources")] for one in listed]
    model = means([of_sets(said, true) for said, _, true in sets])
    rule = means([of_sets(ruled, true) for _, ruled, true in sets])
    names, unread = ("precision", "recall", "F1", "exact match"), sum(not one["read"] for one in listed)
    row = {"questions": len(listed), "rule's exact match": rule[3], "rule's F1": rule[2]}
    yield "source questions", row | {"unreadable": unread, **dict(zip(names, model, strict=True))}


def main(folder, core):
    rows = parquet.read_table(Path(folder) / "dependence-answers.parquet").to_pylist()
    for one in rows:
        n, right, false = (one[key] for key in ("steps", "right", "false"))
        one["judged"] = (right / n, false / n, one["left_out"], right == n) if n else (0.0, 0.0, 0, False)
        if core:
            nodes = labels(Path(core) / "label" / f"{one['problem']}.yaml")
            one["sources"] = true_sources(nodes, one["task"], one["target"])
            if one["form"] == "trace" and not one["own_words"]:
                one["true"] = one["source"] in one["sources"]
            one["judged"] = judged(one["trace"], parents(nodes, one["task"]))
    tables = {}
    for task, name in {**TASKS, None: "all tasks"}.items():
        for form, drawn in (("trace", of_yes), ("source", of_sources)):
            chosen = [one for one in rows if one["form"] == form and task in (None, one["task"])]
            for title, row in drawn(chosen) if chosen else ():
                tables.setdefault(title, {})[name] = row
    print(json.dumps(tables))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
