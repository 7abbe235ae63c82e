"""The tables of docs/results/comprehension.md, from kept records; imports nothing from Counterlens.

Equivalence (after Wei et al. 2025), localisation (after Haroon et al. 2025) and run-time behaviour (after
Chen et al. 2024), of our own verified programs: docs/equivalence.md and docs/execution.md define the figures.
"""

from __future__ import annotations

import ast
from collections import Counter
from itertools import pairwise

import numpy as np
from intervals import average, bootstrap, conclude, exchanged, kept_rows, share

ASKED = ("line runs", "state", "next line", "output", "input")
WAYS = ("prompt", "likelihood")
TOLD = ("line runs", "output", "input")
"""What enough calls of packages answer for a figure."""


def kind(text):
    """A truth as a value, so that equal values are equal whatever their text."""
    try:
        return repr(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text


def equal(rows):
    """Whether each question about a pair got the right answer, by function."""
    return [(row["problem"], said is row["equivalent"]) for row in rows for said in row["yes"]]


def by_similarity(rows):
    """The share that the best threshold of the similarity of two texts is right about."""
    best = max(
        abs(sum((row["similarity"] >= limit) is row["equivalent"] for row in rows) / len(rows) - 0.5)
        for limit in [*(row["similarity"] for row in rows), 2.0]
    )
    return 0.5 + best


def hits(program, way):
    return (program["answer"] if way == "prompt" else program["least_likely"]) in program["lines"]


def located(bugs, way):
    """For each way: the located bugs, and the located ones that a rewritten version loses."""
    first = [(bug["problem"], hits(bug["first"], way)) for bug in bugs]
    lost = [
        (bug["problem"], not hits(version, way))
        for bug in bugs
        if hits(bug["first"], way)
        for version in bug["versions"]
    ]
    return share(first), share(lost)


def answers(call):
    """What was asked about a call: the kind of question, the truth, and whether the answer is right."""
    yield from (("line runs", str(each["truth"]), each["yes"] is each["truth"]) for each in call["covered"])
    for each in call["states"]:
        if each["outcome"] != "truncated":
            yield "state", kind(each["truth"]), each["outcome"] == "right"
    for each in call["next_lines"]:
        yield "next line", str(each["truth"]), each["answer"] == each["truth"]
    if call["outcome"] != "truncated":
        yield "output", kind(call["truth"]), call["outcome"] == "right"
    if call["sought"]:
        yield "input", "", call["sought"]["right"]


def chains(call):
    """For each state: whether its line runs, the state, the next line and the output were known."""
    runs = {each["line"]: each["yes"] is each["truth"] for each in call["covered"]}
    following = {
        (each["line"], each["times"]): each["answer"] == each["truth"] for each in call["next_lines"]
    }
    for state in call["states"]:
        place = state["line"], state["times"]
        steps = [
            *([runs[state["line"]]] if state["line"] in runs else []),
            *([] if state["outcome"] == "truncated" else [state["outcome"] == "right"]),
            *([following[place]] if place in following else []),
            *([] if call["outcome"] == "truncated" else [call["outcome"] == "right"]),
        ]
        if any(steps):
            yield not any(later and not earlier for earlier, later in pairwise(steps))


def beyond_coin(rows):
    """Right answers about equivalence, beyond those of a coin."""
    return average((problem, right - 0.5) for problem, right in equal(rows))


def beyond_constant(calls, asked):
    """Right answers to one kind of question, beyond the most frequent truth."""
    told = [
        (call["problem"], truth, right)
        for call in calls
        for what, truth, right in answers(call)
        if what == asked
    ]
    usual = Counter(truth for _, truth, _ in told).most_common(1)[0][0] if told else ""
    return average((problem, right - (truth == usual)) for problem, truth, right in told)


def beyond_line(bugs):
    """Located bugs, beyond naming the same line number each time."""
    counts = Counter(line for bug in bugs for line in bug["first"]["lines"])
    usual = counts.most_common(1)[0][0]
    return average(
        (bug["problem"], hits(bug["first"], "prompt") - (usual in bug["first"]["lines"])) for bug in bugs
    )


def areas(rows, scores):
    """How often an equivalent pair has the higher score: over all pairs, and within functions.

    Args:
        scores: The score of a row; None without one.

    Returns:
        The AUROC less 0.5, with its interval over functions and the test that exchanges the labels of
        functions, and its mean inside the functions with pairs of both kinds.
    """
    groups = {}
    for row in rows:
        if (score := scores(row)) is not None:
            groups.setdefault(row["problem"], ([], []))[not row["equivalent"]].append(score)
    pooled = tested_area([*groups.values()])
    inside = [(name, area(*sides) - 0.5) for name, sides in groups.items() if all(sides)]
    return pooled, average(inside)


def area(higher, lower):
    """The AUROC of two groups of scores: ties count half."""
    apart = np.subtract.outer(higher, lower)
    return float(((apart > 0) + (apart == 0) / 2).mean())


def tested_area(groups):
    """The AUROC of (higher, lower) groups of scores less 0.5, with interval and test over the groups."""

    def figure(drawn):
        higher, lower = ([score for group in drawn for score in group[at]] for at in (0, 1))
        return area(higher, lower) - 0.5 if higher and lower else None

    cell = bootstrap(groups, figure)
    return cell | {"p": exchanged(groups, figure)} if cell["low"] is not None else cell


def likely_yes(row):
    """The mean probability of yes over both orders; None if the model gives none."""
    return sum(row["probability"]) / len(row["probability"]) if row["probability"] else None


def functions(rows):
    return len({row["problem"] for row in rows})


def by_code(folders):
    """For humaneval, fresh and older code and each model: its figures, as far as they were asked for.

    A folder is named TASK-CODE-MODEL.
    """
    for code in ("humaneval", "fresh", "older"):
        here = [folder for folder in folders if folder.name.split("-")[1] == code]
        asked = kept_rows(here, "equivalence-answers", "localisation-bugs", "runtime-calls")
        for model, (pairs, bugs, calls) in asked.items():
            told = [(call["problem"], what, right) for call in calls for what, _, right in answers(call)]
            yield [
                *(code, model, share(equal(pairs)), *(located(bugs, way)[0] for way in WAYS)),
                *(share((problem, right) for problem, what, right in told if what == each) for each in TOLD),
                beyond_constant(calls, "output"),
            ]


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    equivalence, likely, localisation, runtime, consistency, told = [], [], [], [], [], []
    for model, rows in kept_rows(folders, "equivalence-answers").items():
        both = share((row["problem"], all(said is row["equivalent"] for said in row["yes"])) for row in rows)
        yes = share((row["problem"], said is True) for row in rows for said in row["yes"])
        figures = [share(equal(rows)), both, yes, f"{by_similarity(rows):.0%}".replace("%", " %")]
        equivalence.append([model, functions(rows), len(rows), *figures])
        cell = beyond_coin(rows)
        told.append(
            ["it says whether two functions do the same, better than a coin", model, cell, conclude(cell)]
        )
        cell, inside = areas(rows, likely_yes)
        likely.append([model, len(rows), cell, inside, areas(rows, lambda row: row["similarity"])[0]])
        told.append(
            ["its probability of yes is higher for functions that do the same", model, cell, conclude(cell)]
        )
    for model, bugs in kept_rows(folders, "localisation-bugs").items():
        localisation += [[model, way, functions(bugs), len(bugs), *located(bugs, way)] for way in WAYS]
        cell = beyond_line(bugs)
        told.append(["it names the wrong line, better than one fixed number", model, cell, conclude(cell)])
    for model, calls in kept_rows(folders, "runtime-calls").items():
        shares = {
            asked: share(
                (call["problem"], right)
                for call in calls
                for what, _, right in answers(call)
                if what == asked
            )
            for asked in ASKED
        }
        runtime.append([model, functions(calls), *shares.values()])
        kept = share((call["problem"], whole) for call in calls for whole in chains(call))
        consistency.append([model, kept["n"], kept])
        for asked in ASKED[:-1]:
            cell = beyond_constant(calls, asked)
            words = {"line runs": "which lines run", "state": "states", "next line": "which line is next"}
            what = (
                f"it knows {words.get(asked, 'what the call returns')}, better than the most frequent answer"
            )
            told.append([what, model, cell, conclude(cell)])
    return {
        "equivalence": (
            ["model", "functions", "pairs", "right", "right in both orders", "says yes", "text similarity"],
            equivalence,
        ),
        "probability of yes": (
            ["model", "pairs", "AUROC less 0.5", "inside functions", "of text similarity"],
            likely,
        ),
        "localisation": (
            ["model", "by", "functions", "bugs", "located", "located faults that are lost"],
            localisation,
        ),
        "runtime": (["model", "functions", *ASKED], runtime),
        "consistency": (["model", "chains", "consistent"], consistency),
        "by code": (
            [
                *("code", "model", "equivalent or not", "located by prompt", "by likelihood"),
                *(*TOLD, "output, beyond the most frequent one"),
            ],
            list(by_code(folders)),
        ),
        "conclusions": (["question", "model", "beyond it", "here"], sorted(told, key=lambda row: row[0])),
    }
