"""The tables of docs/results/operators.md, from kept records; imports nothing from Counterlens."""

from __future__ import annotations

from collections import Counter

import numpy as np
from intervals import average, conclude, kept_rows, share
from operators import CONTEXTS, TITLES, counts, distances, guesses, population
from printed import percent, printed

SHARES = ("original", "transformed", "both")
MODELS = ("RoBERTa (no code)", "GraphCodeBERT")
"""Models of the paper whose rows are shown."""
SITES = {"block swap": 1425, "operand swap": 9126}
CONTEXT = {
    row["context"]: tuple(percent(row[name]) for name in SHARES)
    for row in printed("operators", "3")
    if row["transformation"] == "operand swap"
}
"""Table 3, operand swap, GraphCodeBERT."""


def of_paper():
    """Tables 2, 4 and 5: both models on original names, and the better one after further changes."""
    refactored = [{"transformation": "block swap", **row} for row in printed("operators", "5")]
    parts = {
        "": printed("operators", "2"),
        ", renamed": printed("operators", "4"),
        ", refactored": refactored,
    }
    for suffix, rows in parts.items():
        for row in rows:
            change = row["transformation"]
            if row["model"] in (MODELS[1:] if suffix else MODELS):
                entropies = f"{row['entropy, original']}, {row['entropy, transformed']}"
                known = [percent(row[name]) for name in SHARES]
                yield [row["model"], change + suffix, "" if suffix else SITES[change], *known, entropies]


def cells(pairs):
    """Shares of known operators before, after, and on both sides."""
    known = [(p["problem"], p["no"]["known"], p["yes"]["known"]) for p in pairs]
    return [
        share((problem, no) for problem, no, _ in known),
        share((problem, yes) for problem, _, yes in known),
        share((problem, no and yes) for problem, no, yes in known),
    ]


def of(pairs, change, context="complete"):
    return [pair for pair in pairs if pair["key"] == (change, context)]


def swapped(pairs):
    """All swaps without other changes, with the complete context."""
    return of(pairs, "operand-swap") + of(pairs, "block-swap")


def lost(pairs):
    return average((p["problem"], p["no"]["known"] - p["yes"]["known"]) for p in pairs)


def beyond_usual(pairs):
    """Right operators after a swap beyond those of the one that is most frequent there."""
    most = Counter(p["yes"]["right"] for p in pairs).most_common(1)
    usual = most[0][0] if most else None
    return average((p["problem"], p["yes"]["known"] - (p["yes"]["right"] == usual)) for p in pairs)


def both_contexts(pairs):
    """Right operators with the complete context beyond those with ten tokens on each side."""
    near = {}
    for pair in pairs:
        near.setdefault((pair["problem"], pair["key"][0], pair["key"][1]), []).append(pair["no"]["known"])
    values = []
    for (problem, change, context), known in near.items():
        other = near.get((problem, change, "±10"))
        if context == "complete" and other:
            values.append((problem, float(np.mean(known) - np.mean(other))))
    return average(values)


def overall(model, pairs, frequency):
    """Table 9: the operators before and after operand swaps, beside guesses by frequency."""
    for side, title in (("no", "original"), ("yes", "transformed")):
        right, said = (np.array([p[side][one] for p in pairs]) for one in ("right", "said"))
        rounds = guesses(len(pairs), frequency)
        hit = int(np.sum(right == said))
        better = int(((rounds == right).mean(axis=1) > hit / len(pairs) + 1e-9).sum())
        chance = float((rounds == right).mean())
        yield [model, title, len(pairs), hit, f"{hit / len(pairs):.2f}", f"{chance:.2f}", better]


def operators_after(model, pairs):
    """How often each operator is predicted after an operand swap."""
    for name in sorted({p["yes"]["right"] for p in pairs}):
        some = [p for p in pairs if p["yes"]["right"] == name]
        tp, fp, _ = counts(*(np.array([p["yes"][one] for p in pairs]) for one in ("right", "said")), name)
        known = share((p["problem"], p["yes"]["known"]) for p in some)
        yield [model, f"`{name}`", len(some), known, int(tp + fp)]


def changes_of(model, pairs):
    """Tables 2, 4 and 5."""
    for change, (title, _) in TITLES.items():
        if chosen := of(pairs, change):
            losses = (f"{np.mean([p[side]['NLL'] for p in chosen]):.2f}" for side in ("no", "yes"))
            yield [model, title, len(chosen), *cells(chosen), ", ".join(losses)]


def contexts_of(model, pairs):
    """Table 3."""
    for context in CONTEXTS:
        if chosen := of(pairs, "operand-swap", context):
            yield [model, context, len(chosen), *cells(chosen), ", ".join(CONTEXT[context])]


def kept_or_changed(model, swaps):
    """Ours: operand swaps by whether the operator stays the same, such as `==`."""
    for title, same in (("stays", True), ("changes", False)):
        if chosen := [p for p in swaps if (p["no"]["right"] == p["yes"]["right"]) is same]:
            yield [model, title, len(chosen), *cells(chosen), lost(chosen)]


def conclusions_of(model, pairs):
    """What the paper concludes, as a figure that is positive if it holds."""
    for text, cell in (
        ("after a swap it knows more than the most frequent operator", beyond_usual(swapped(pairs))),
        ("a swap costs right operators", lost(swapped(pairs))),
        ("more context helps (Table 3)", both_contexts(pairs)),
    ):
        yield [text, model, cell, conclude(cell)]


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    known = kept_rows(folders, "operator-pairs", "operator", "embedding-pairs")
    main, contexts, kept, nine, after, six, rows = [], [], [], [], [], [], []
    for model, (many, functions, far) in known.items():
        pairs = list(population(many))
        main += changes_of(model, pairs)
        contexts += contexts_of(model, pairs)
        rows += conclusions_of(model, pairs)
        frequency = Counter()
        for counted in (row["frequency"] for row in functions):
            frequency.update({name: count for name, count in counted.items() if count})
        if swaps := of(pairs, "operand-swap"):
            kept += kept_or_changed(model, swaps)
            nine += overall(model, swaps, frequency)
            after += operators_after(model, swaps)
        six += [[model, *(row[name] for name in ("n", "nearer", "p"))] for row in distances(far)]
    head = ["model", "change", "n", "original", "transformed", "both", "NLL before, after"]
    return {
        "Tables 2, 4 and 5": (head, [*main, *of_paper()]),
        "Table 3": (["model", "context", "n", *SHARES, "GraphCodeBERT in the paper"], contexts),
        "kept and changed operators": (["model", "the operator", "n", *SHARES, "lost"], kept),
        "Table 9": (["model", "code", "n", "right", "share", "by chance", "of 1,000 rounds better"], nine),
        "operators after a swap": (["model", "right operator", "n", "known", "predicted"], after),
        "Table 6": (["model", "n", "equivalent one nearer", "p"], six),
        "conclusions": (
            ["the paper's conclusion", "model", "figure", "here"],
            rows,
        ),
    }
