"""The table of kept runs: what was asked about how many functions; imports nothing from Counterlens."""

from __future__ import annotations

import json
from collections import Counter

import pyarrow.parquet as parquet


def run(folder):
    """A row for each model and task of a run."""
    (manifest, *_) = json.loads((folder / "manifests.json").read_text(encoding="utf-8")).values()
    data, records = manifest["dataset"], folder / "records.parquet"
    if not records.exists():
        yield [f"`{folder.name}`", data["dataset"], "", "", data["records"], ""]
        return
    rows = parquet.read_table(records).to_pylist()
    seen = Counter((row["model"], row["task"]) for row in rows)
    probed = Counter((row["model"], row["task"]) for row in rows if row["outcome"] == "probed")
    for (model, task), n in seen.items():
        yield [f"`{folder.name}`", data["title"], model, task, n, probed[model, task]]


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    head = ["records", "data", "model", "task", "functions", "of which probed"]
    return {"runs": (head, [row for folder in folders for row in run(folder)])}
