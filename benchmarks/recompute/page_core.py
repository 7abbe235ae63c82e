"""The tables of docs/results/core.md, from kept records; imports nothing from Counterlens."""

from __future__ import annotations

from collections import defaultdict

from core import TASKS, f1, of_sets, of_sources, of_yes
from intervals import bootstrap, conclude, kept_rows


def grouped(rows, form, task):
    """The questions of one form and task, by function."""
    functions = defaultdict(list)
    for row in rows:
        if row["form"] == form and task in (None, row["task"]):
            functions[row["problem"]].append(row)
    return list(functions.values())


def beyond_rule(groups):
    """F1 of the model less F1 of the rule without a model, on yes/no questions."""
    rows = [row for group in groups for row in group]
    model, rule = (f1([(row[by], row["true"]) for row in rows]) for by in ("said", "ruled"))
    return model - rule


def beyond_listing_rule(groups):
    """The same for questions about sources: the difference of the mean F1."""
    rows = [row for group in groups for row in group]
    sets = [[set(row[by]) for by in ("said_sources", "ruled_sources", "sources")] for row in rows]
    return sum(of_sets(said, true)[2] - of_sets(ruled, true)[2] for said, ruled, true in sets) / len(sets)


def beyond_always_yes(groups):
    """Accuracy less the share of the more frequent answer."""
    rows = [row for group in groups for row in group]
    right = sum(row["said"] == row["true"] for row in rows)
    yes = sum(row["true"] for row in rows)
    return (right - max(yes, len(rows) - yes)) / len(rows)


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    pairwise, traces, sources, rows = [], [], [], []
    for model, answers in kept_rows(folders, "dependence-answers").items():
        for row in answers:
            n, right, false = (row[key] for key in ("steps", "right", "false"))
            row["judged"] = (right / n, false / n, row["left_out"], right == n) if n else (0.0, 0.0, 0, False)
        for task, title in {**TASKS, None: "all tasks"}.items():
            if groups := grouped(answers, "trace", task):
                tables = dict(of_yes([row for group in groups for row in group]))
                asked, beside = tables["pairwise questions"], tables["compared with rules without a model"]
                head = [model, title, len(groups), *(asked[name] for name in ("questions", "answer is yes"))]
                cell = bootstrap(groups, beyond_rule)
                more = [asked["accuracy"], asked["F1"], asked["rule's F1"], cell, beside["F1 if rule wrong"]]
                pairwise.append([*head, *more])
                told = tables["traces of questions answered by yes"]
                traces.append([model, title, *told.values()])
                if task is None:
                    guess = bootstrap(groups, beyond_always_yes)
                    rows.append(["it answers better than one fixed answer", model, guess, conclude(guess)])
                    rows.append(["it finds more than the rules without a model", model, cell, conclude(cell)])
            if groups := grouped(answers, "source", task):
                asked = dict(of_sources([row for group in groups for row in group]))["source questions"]
                shown = [asked[name] for name in ("questions", "precision", "recall", "F1", "rule's F1")]
                sources.append([model, title, len(groups), *shown, bootstrap(groups, beyond_listing_rule)])
    return {
        "pairwise": (
            [
                *("model", "task", "functions", "questions", "yes is right", "accuracy", "F1"),
                *("rule's F1", "difference", "F1 if the rule is wrong"),
            ],
            pairwise,
        ),
        "traces": (
            ["model", "task", "questions", "right steps", "false steps", "missing nodes", "right traces"],
            traces,
        ),
        "sources": (
            [
                *("model", "task", "functions", "questions", "precision", "recall", "F1"),
                *("rule's F1", "difference"),
            ],
            sources,
        ),
        "conclusions": (["conclusion", "model", "figure", "here"], rows),
    }
