"""The table of bugs that people made in docs/results/doubt.md, from records of `benchmarks/doubt.py --made`.

Imports nothing from Counterlens. A row is a function with a bug: its lines of code, its marks with whether
each is on a line of the fix, and the same for the findings of each linter, which are taken once.
"""

from __future__ import annotations

import gzip
import json
import math


def share(count, n):
    """A share with Wilson's interval and the two counts."""
    if not n:
        return "--"
    z = 1.959964
    middle = (count / n + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(count / n * (1 - count / n) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return f"{count / n:.2f} ({max(0, middle - half):.2f} to {min(1, middle + half):.2f}), {count} of {n}"


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    models, linters = {}, {}
    for folder in folders:
        for file in sorted(folder.glob("*.jsonl.gz")):
            bugs = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
            size = len(bugs), sum(bug["lines"] for bug in bugs)
            marks = [[mark["right"] for mark in bug["marks"]] for bug in bugs]
            models[file.name.removesuffix(".jsonl.gz")] = marks, *size
            findings = {name: [bug["linters"][name] for bug in bugs] for name in bugs[0]["linters"]}
            linters |= {name: (found, *size) for name, found in findings.items()}
    rows = []
    for name, (marks, bugs, lines) in (models | linters).items():
        n, right = sum(map(len, marks)), sum(map(sum, marks))
        found = share(sum(map(any, marks)), bugs)
        rows.append([name, found, share(right, n), f"{1000 * n / lines:.0f}, {n} on {lines} lines"])
    head = ["", "bugs found", "right of all marks", "marks per 1,000 lines"]
    return {"bugs that people made": (head, rows)}
