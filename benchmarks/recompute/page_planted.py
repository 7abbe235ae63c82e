"""The tables on planted alternatives and on packages, from records of `planted.py` and `package_marks.py`.

Imports nothing from Counterlens. A row of `planted.py` is a right function with the alternatives that were
planted, and which of them readings and likelihood mark; one of `package_marks.py` is a function of a package:
its mark, or why it was not read.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter

from intervals import rate, share


def rows_of(folders, kind):
    """The rows of each file of one kind: planted alternatives, or packages."""
    files = [file for folder in folders for file in sorted(folder.glob("*.jsonl.gz"))]
    known = {}
    for file in files:
        rows = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
        if rows and ("planted" in rows[0]) == (kind == "planted"):
            known[file.name.removesuffix(".jsonl.gz")] = rows
    return known


def is_marked(alternative, way):
    """Whether a planted alternative is marked in a way, or in one of both."""
    ways = ("alternatives", "readings") if way == "both" else (way,)
    return any(alternative[each] for each in ways)


def planted(folders):
    """By kind, the planted alternatives that show on an input, and which of them are marked."""
    head = ["model", "kind", "planted", "by alternatives", "by readings", "by either"]
    lines = []
    for model, rows in rows_of(folders, "planted").items():
        showing = [
            {**each, "function": row["id"]} for row in rows for each in row["planted"] if each["shows"]
        ]
        kinds = [name for name, _ in Counter(each["kind"] for each in showing).most_common()]
        for kind in ["all", *kinds]:
            some = [each for each in showing if kind in ("all", each["kind"])]
            ways = ("alternatives", "readings", "both")
            shares = [share([(each["function"], is_marked(each, way)) for each in some]) for way in ways]
            lines.append([model, "all" if kind == "all" else f"`{kind}`", str(len(some)), *shares])
    return head, lines


def right(folders):
    """The right functions that are marked."""
    head = ["model", "right functions", "marked by alternatives", "marked by readings"]
    lines = []
    for model, rows in rows_of(folders, "planted").items():
        some = [row["right"] for row in rows if "right" in row]
        shares = [rate([bool(each[way]) for each in some]) for way in ("alternatives", "readings")]
        lines.append([model, str(len(some)), *shares])
    return head, lines


def packages(folders):
    """How many functions of packages were read and marked, and each mark."""
    head = ["model", "functions tried", "docstrings read", "marked"]
    listed = ["function", "call", "the code", "versions", "that agree"]
    lines, marks = [], []
    for model, rows in rows_of(folders, "packages").items():
        read = [row for row in rows if "unread" not in row]
        lines.append([model, str(len(rows)), str(len(read)), rate(["mark" in row for row in read])])
        for row in read:
            if told := row.get("mark"):
                texts = (told["call"], told["code"], told["versions"])
                cells = [f"`{text[:60]}`".replace("|", "\\|") for text in texts]
                marks.append([row["function"], *cells, f"{told['agreeing']} of {told['of']}"])
    return (head, lines), (listed, marks)


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    counts, marks = packages(folders)
    return {
        "planted": planted(folders),
        "right functions": right(folders),
        "packages": counts,
        "marks in packages": marks,
    }
