"""Outputs under five preserving mutations (Orvalho and Kwiatkowska 2026), from an exported run alone.

    counterlens export RUN && python benchmarks/recompute/reasoning_robustness.py RUN/parquet

It imports nothing from Counterlens: the record of each answer says what came of it; shares, differences,
intervals and tests are computed here. Prints every cell as JSON, by table.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from math import comb
from pathlib import Path

import pyarrow.parquet as parquet
from intervals import average, bootstrap, share

TITLES = {
    "rename-random": "renamed variables",
    "operand-swap": "mirrored comparisons",
    "if-else-flip": "swapped branches",
    "for-while-convert": "for to while",
    "partial-unroll": "unrolled loops",
}
PLACEBO = "blank lines (placebo)"
ANY = "any of the mutations"


def rows(folder, name):
    path = folder / f"execution-{name}.parquet"
    return parquet.read_table(path).to_pylist() if path.exists() else []


def verdicts(answers, key):
    """Whether each answer is right, by model and program, then by function; None if it is truncated."""
    known = defaultdict(dict)
    for answer in answers:
        cut = answer["outcome"] == "truncated"
        known[answer["model"], key(answer)][answer["target"]] = None if cut else answer["outcome"] == "right"
    return known


def accuracy(model, programs, known):
    for program in programs:
        values = known.get((model, program))
        if values:
            ended = [(name, value) for name, value in values.items() if value is not None]
            yield [model, program, len(ended), len(values) - len(ended), share(ended)]


def mcnemar(lost, gained):
    """The exact two-sided test: of the functions that differ, each side is as likely; None if none does."""
    n, least = lost + gained, min(lost, gained)
    return min(1.0, 2 * sum(comb(n, k) for k in range(least + 1)) / 2**n) if n else None


def compared(known, model, program):
    """The verdicts before and after, of the functions that have both, in the order of the run."""
    before, after = known[model, "original"], known.get((model, program), {})
    both = {name: (before[name], after[name]) for name in before if name in after}
    return {name: pair for name, pair in both.items() if None not in pair}


def drop(drawn):
    before, after = (sum(pair[at] for pair in drawn) for at in (0, 1))
    return 1 - after / before if before else None


def drops(model, programs, known):
    for program in programs[1:]:
        pairs = compared(known, model, program)
        if pairs:
            values = list(pairs.values())
            lost, gained = values.count((True, False)), values.count((False, True))
            sides = [share([(name, pair[at]) for name, pair in pairs.items()]) for at in (0, 1)]
            less = average([(name, float(pair[1]) - float(pair[0])) for name, pair in pairs.items()])
            relative = bootstrap(values, drop)
            yield [model, program, len(pairs), *sides, less, relative, lost, gained, mcnemar(lost, gained)]


def stability(model, programs, known):
    changed = {program: {} for program in [*TITLES.values(), ANY, PLACEBO]}
    for program in programs[1:]:
        for name, (before, after) in compared(known, model, program).items():
            if before:
                changed[program][name] = not after
                if program != PLACEBO:
                    changed[ANY][name] = changed[ANY].get(name, False) or not after
    for program, values in changed.items():
        if values:
            yield [model, program, len(values), share(values.items())]


def tables(folder):
    known = verdicts(rows(folder, "answers"), lambda _: "original")
    known |= verdicts(rows(folder, "versions"), lambda row: TITLES.get(row["mutation"], PLACEBO))
    programs = ["original", *TITLES.values(), PLACEBO]
    computed = {
        "accuracy": accuracy,
        "drop under each mutation": drops,
        "stability of right answers": stability,
    }
    return {
        title: [
            row
            for model in dict.fromkeys(model for model, _ in known)
            for row in rows_of(model, programs, known)
        ]
        for title, rows_of in computed.items()
    }


if __name__ == "__main__":
    print(json.dumps(tables(Path(sys.argv[1])), indent=1))
