"""The tables of Ahmed et al. 2024, "Towards Understanding What Code Language Models Learn", from an export.

    counterlens bench --protocol operators --task operator --task embedding --data DATA --out RUN
    counterlens export RUN --output FOLDER
    python benchmarks/recompute/operators.py FOLDER

Written from the paper; it imports nothing from Counterlens. Prints JSON: the rows by model and table, each
cell by its column. Guesses by frequency are sampled again, so their figures differ slightly.
"""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
from scipy.stats import wilcoxon

OPERATORS = ["==", "!=", "<", "<=", ">", ">="]
PLAIN = {"block-swap": "if-else", "operand-swap": "condition"}
TITLES = {
    "block-swap": ("block swap", "Table 2"),
    "operand-swap": ("operand swap", "Table 2"),
    "renamed block-swap": ("block swap, renamed", "Table 4"),
    "renamed operand-swap": ("operand swap, renamed", "Table 4"),
    "refactored block-swap": ("block swap, refactored", "Table 5"),
}
CONTEXTS = ["±10", "+10", "±30", "+30", "±50", "+50", "complete"]
SIDES = {"no": "original", "yes": "transformed"}
F1 = lambda tp, fp, fn: 2 * tp / np.maximum(2 * tp + fp + fn, 1)  # noqa: E731
FIVE = ("least", "lower quartile", "median", "upper quartile", "most")


def believed(answer):
    """One masked operator: the likeliest one, its negative log-likelihood (section 4.3), and the entropy."""
    names, right = answer["candidates"], answer["operator"]
    logprob = np.array([answer["logprob"][name] for name in names])
    share = logprob - np.logaddexp.reduce(logprob)
    said = names[int(np.argmax(logprob))]
    read = {"right": right, "said": said, "known": said == right, "surprisal": answer["surprisal"]}
    return read | {"NLL": -share[names.index(right)], "entropy": -np.exp(share) @ share}


def population(rows):
    """The swaps of sections 3.1 and 4.1: with one of six comparisons, in conditions, or of plain if-else."""
    for row in rows:
        form = PLAIN.get(row["change"].split()[-1])
        if form and row["form"] == form and row["original"]["operator"] in OPERATORS:
            before, after = row["window"]["before"], row["window"]["after"]
            context = "complete" if after is None else f"±{after}" if before else f"+{after}"
            sides = {side: believed(row[SIDES[side]]) for side in SIDES}
            yield {"key": (row["change"], context), "problem": row["problem"], "found": row["found"], **sides}


def accuracy(pairs):
    """A row of Tables 2 to 5."""
    row = {"n": len(pairs), "both": np.mean([pair["no"]["known"] and pair["yes"]["known"] for pair in pairs])}
    for side, suffix in (("no", ""), ("yes", " after")):
        for one, name in (("known", SIDES[side]), ("NLL", f"NLL{suffix}"), ("entropy", f"entropy{suffix}")):
            row[name] = np.mean([pair[side][one] for pair in pairs])
    return row


def guesses(n, frequency):
    """1,000 rounds of guessing by prior frequency (section 4.2.1)."""
    weights = np.array([frequency[name] for name in OPERATORS], float)
    p = weights / weights.sum() if weights.sum() else None
    return np.random.default_rng(2024).choice(OPERATORS, (1000, n), p=p)


def counts(right, said, name):
    tp = np.sum((right == name) & (said == name), axis=-1)
    return np.array([tp, np.sum(said == name, axis=-1) - tp, np.sum(right == name, axis=-1) - tp])


def by_operator(pairs, frequency):
    """Tables 8 and 9."""
    for side in SIDES if pairs else ():
        right, said = (np.array([pair[side][one] for pair in pairs]) for one in ("right", "said"))
        rounds = guesses(len(pairs), frequency)
        rows = [(name, counts(right, said, name), counts(right, rounds, name)) for name in OPERATORS]
        rows = [(name, own, F1(*drawn) > F1(*own) + 1e-9) for name, own, drawn in rows if own.any()]
        better = (rounds == right).mean(axis=1) > (said == right).mean() + 1e-9
        for name, (tp, fp, fn), ahead in [*rows, ("overall", sum(own for _, own, _ in rows), better)]:
            row = {"operator": name, "swapped": side, "n": tp + fn, "TP": tp, "FP": fp, "FN": fn}
            row |= {"precision": tp / (tp + fp) if tp + fp else None, "F1": F1(tp, fp, fn)}
            known = (tp / (tp + fn), ahead.sum()) if tp + fn else (None, None)
            yield row | {"recall": known[0], "rounds better": known[1]}


def tables(pairs, frequency):
    """All tables and figures except Table 6."""
    found = {name: [] for name in [*(f"Table {i}" for i in range(2, 8)), "Figure 6", "Figure 7", "guessing"]}
    keys = [(change, context) for change in TITLES for context in CONTEXTS]
    of = {key: [pair for pair in pairs if pair["key"] == key] for key in keys}
    for (change, context), chosen in of.items():
        head = {"transformation": TITLES[change][0]}
        if chosen and context == "complete":
            found[TITLES[change][1]].append(head | accuracy(chosen))
        if chosen and change in PLAIN:
            found["Table 3"].append(head | {"context": context} | accuracy(chosen))
    for names, change in (("original", "block-swap"), ("uninformative", "renamed block-swap")):
        asked = [pair for pair in of[change, "complete"] if pair["found"]]
        for seen in ([False, False], [True, True], [True, False], [False, True]):
            if same := [pair for pair in asked if list(pair["found"]) == seen]:
                old, new = (("no", "yes")[one] for one in seen)
                head = {"names": names, "original found": old, "transformed found": new}
                found["Table 7"].append(head | {"share": len(same) / len(asked)} | accuracy(same))
    for table, change in (("Table 8", "block-swap"), ("Table 9", "operand-swap")):
        found[table] = list(by_operator(of[change, "complete"], frequency))
    for change, side in [(change, side) for change in TITLES for side in SIDES if of[change, "complete"]]:
        answers = [pair[side] for pair in of[change, "complete"]]
        known = np.mean([one["known"] for one in answers])
        head = {"transformation": TITLES[change][0], "transformed": side, "n": len(answers)}
        rounds = (guesses(len(answers), frequency) == [one["right"] for one in answers]).mean(axis=1)
        row = {"accuracy": known, "chance": rounds.mean(), "best round": rounds.max()}
        found["guessing"].append(head | row | {"rounds better": (rounds > known + 1e-9).sum()})
        for figure, measure in (("Figure 6", "surprisal"), ("Figure 7", "NLL")):
            values = [one[measure] for one in answers]
            row = dict(zip(FIVE, np.percentile(values, [0, 25, 50, 75, 100]), strict=True))
            found[figure] += [head | row | {"mean": np.mean(values)}]
    return found


def distances(rows):
    """Table 6."""
    rows = [row for row in rows if row["form"] == "if-else" and row["family"] == "comparison"]
    near, far = (np.array([row[name] for row in rows]) for name in ("equivalent", "plain"))
    row = {"n": len(rows), "nearer": np.mean(near < far)} if rows else {}
    row |= {"p": wilcoxon(far, near, alternative="greater").pvalue if (near != far).any() else None}
    return [row | {"non-equivalent swap": np.mean(far), "equivalent swap": np.mean(near)}] if rows else []


if __name__ == "__main__":
    files = {path.stem: parquet.read_table(path).to_pylist() for path in Path(sys.argv[1]).glob("*.parquet")}
    printed = {}
    for model in sorted({row["model"] for row in files["records"]}):
        one, many, far = (
            [row for row in files.get(name, []) if row["model"] == model]
            for name in ("operator", "operator-pairs", "embedding-pairs")
        )
        frequency = Counter()
        for counted in [row["frequency"] for row in one if row["corpus"]][:1] or [
            row["frequency"] for row in one
        ]:
            frequency.update({name: count for name, count in counted.items() if count})
        printed[model] = tables(list(population(many)), frequency) | {"Table 6": distances(far)}
    print(json.dumps(printed, indent=1, default=float))
